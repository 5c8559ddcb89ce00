"""tf.summary: writes values over time to event files for TensorBoard."""

from gradtape.tf.summary import audio as audio
from gradtape.tf.summary import create_file_writer as create_file_writer
from gradtape.tf.summary import create_noop_writer as create_noop_writer
from gradtape.tf.summary import experimental as experimental
from gradtape.tf.summary import flush as flush
from gradtape.tf.summary import histogram as histogram
from gradtape.tf.summary import image as image
from gradtape.tf.summary import record_if as record_if
from gradtape.tf.summary import scalar as scalar
from gradtape.tf.summary import should_record_summaries as should_record_summaries
from gradtape.tf.summary import text as text
from gradtape.tf.summary import write as write
from gradtape.tf.summary_trace import trace_export as trace_export
from gradtape.tf.summary_trace import trace_off as trace_off
from gradtape.tf.summary_trace import trace_on as trace_on
from gradtape.tf.summary_writer import SummaryWriter as SummaryWriter
