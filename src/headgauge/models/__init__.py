"""Models, texts, and what their attention computes: from a name to streamed rows.

    loaded = models.load()                        # the default model, or a name, folder, GGUF file
    text = models.read_text()                     # War and Peace, or what there is
    windows = models.cut_windows(loaded, text, length=1024, count=4)

    def observer(call):
        for block in call.blocks():               # one head, 128 query rows at a time
            block.weights, block.visible, block.value

    with torch.no_grad(), models.intercept(loaded.model, observer) as seen:
        loaded.model(**models.model_inputs(loaded, windows.ids[:1]))
    seen.unseen                                   # attention that ran and could not be seen

    layers = models.layer_norms(loaded.model, a_few_tokens)      # where each layer has its norms
    models.recognise([each.scheme for each in layers])           # which scheme that is
    models.read_stream(loaded.model, inputs, layers, observer)   # the residual stream, by layer

Only this package imports transformers, and only when a model is loaded or intercepted.
"""

from headgauge.models.attention_modules import attention_modules
from headgauge.models.cache import CacheEntry, cache_folder, clear_cache, list_cache
from headgauge.models.calls import AttentionCall, ObservedCall, SoftmaxCall
from headgauge.models.documents import Documents
from headgauge.models.edge_tokens import Bos, Edges, EdgeToken, edges
from headgauge.models.facts import FileWord, LoadedModel, ModelFacts, describe
from headgauge.models.inputs import check_ids, model_inputs, next_token_loss, vocabulary
from headgauge.models.intercept import Interception, intercept
from headgauge.models.layer_trace import stream_layers, without_cache
from headgauge.models.loading import DEFAULT_MODEL, load
from headgauge.models.readable import uncompiled
from headgauge.models.residual import StreamStep, read_stream
from headgauge.models.rows import RowBlock
from headgauge.models.schemes import LayerNorms, Recognised, layer_norms, recognise
from headgauge.models.source import MemorySource, ModelSource, fingerprint, wrap
from headgauge.models.text import SourceText, default_texts, read_text
from headgauge.models.vectors import VECTOR_KINDS, KeyVectors
from headgauge.models.windows import Windows, cut_windows

__all__ = [
    "DEFAULT_MODEL",
    "VECTOR_KINDS",
    "AttentionCall",
    "Bos",
    "CacheEntry",
    "Documents",
    "EdgeToken",
    "Edges",
    "FileWord",
    "Interception",
    "KeyVectors",
    "LayerNorms",
    "LoadedModel",
    "MemorySource",
    "ModelFacts",
    "ModelSource",
    "ObservedCall",
    "Recognised",
    "RowBlock",
    "SoftmaxCall",
    "SourceText",
    "StreamStep",
    "Windows",
    "attention_modules",
    "cache_folder",
    "check_ids",
    "clear_cache",
    "cut_windows",
    "default_texts",
    "describe",
    "edges",
    "fingerprint",
    "intercept",
    "layer_norms",
    "list_cache",
    "load",
    "model_inputs",
    "next_token_loss",
    "read_stream",
    "read_text",
    "recognise",
    "stream_layers",
    "uncompiled",
    "vocabulary",
    "without_cache",
    "wrap",
]
