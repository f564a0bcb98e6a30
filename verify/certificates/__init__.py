"""The certificate of one deployment: configuration, claims, evidence, record, report, attestation."""
