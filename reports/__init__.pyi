"""The public names, each with the module that holds it."""

from .document import check_formulas as check_formulas
from .document import pdf_bytes as pdf_bytes
from .files import write_atomic as write_atomic
from .formats import FORMATS as FORMATS
from .formats import rendered as rendered
from .formats import write_document as write_document
from .junit import JUnitCase as JUnitCase
from .junit import junit_xml as junit_xml
from .markdown import render_markdown as render_markdown
from .row import Audience as Audience
from .row import Document as Document
from .row import Figure as Figure
from .row import HeatMap as HeatMap
from .row import Mark as Mark
from .row import Section as Section
from .row import Series as Series
from .row import Style as Style
from .row import Table as Table
from .web.html_page import html_bytes as html_bytes
