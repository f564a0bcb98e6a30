"""The smallest useful act, under the name of what it audits with: ``certify`` decides it."""

from verify.certificates.audit_call import AuditResult as AuditResult
from verify.certificates.audit_call import audit as audit
