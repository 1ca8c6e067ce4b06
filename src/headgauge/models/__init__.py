"""Models, texts, and what their attention computes: from a name to streamed rows.

    loaded = models.load()                        # the default model, or a name, folder, GGUF file
    tokens = models.tokenise(loaded.tokenizer, models.read_text().text)
    (start, ids), *others = models.cut_windows(tokens, length=1024, count=4)

    def observer(call):
        for block in call.blocks():               # one head, 128 query rows at a time
            block.weights, block.visible, block.value

    with torch.no_grad(), models.intercept(loaded.model, observer) as seen:
        loaded.model(**models.model_inputs(loaded, ids[None]))
    seen.unseen                                   # attention that ran and could not be seen

    layers = models.layer_norms(loaded.model, a_few_tokens)      # where each layer has its norms
    models.recognise([each.scheme for each in layers])           # which scheme that is
    models.read_stream(loaded.model, inputs, layers, observer)   # the residual stream, by layer

    with models.ablated(loaded, [(18, 7)]):       # without a head, in generate() too
        loaded.model(**inputs)

    with models.swap(loaded, "sparsemax"):        # another rule in place of softmax
        loaded.model(**inputs)
    models.install(loaded, "ssmax")               # its parameters are the model's, to be trained

Only this package imports transformers, and only when a model is loaded or intercepted.
"""

from headgauge.models.ablation import ablated
from headgauge.models.cache import cache_folder, clear_cache, list_cache
from headgauge.models.calls import (
    AttentionCall,
    DrawnRows,
    ObservedCall,
    RowBlock,
    SoftmaxCall,
)
from headgauge.models.documents import Documents
from headgauge.models.edge_tokens import Bos, Edges, EdgeToken, edges
from headgauge.models.facts import FileWord, LoadedModel, ModelFacts, fingerprint, wrap
from headgauge.models.hooks import in_eval, uncompiled
from headgauge.models.installing import install, uninstall
from headgauge.models.intercept import Interception, intercept
from headgauge.models.layers import VECTOR_KINDS, KeyVectors, StreamLengths
from headgauge.models.loading import ModelSource, load
from headgauge.models.norm_placement import (
    Recognised,
    StreamStep,
    layer_norms,
    read_stream,
    recognise,
)
from headgauge.models.predicting import (
    Logits,
    Predicted,
    mean_loss,
    next_token_loss,
    predictions,
    run,
    token_losses,
)
from headgauge.models.projections import OutputProjection, Projections, output_projections
from headgauge.models.rule_files import load_rule, save_rule
from headgauge.models.structure import (
    attention_kernels,
    attention_modules,
    with_attention,
    without_cache,
)
from headgauge.models.swapping import swap
from headgauge.models.text import SourceText, default_texts, read_text
from headgauge.models.windows import (
    check_ids,
    cut_windows,
    model_inputs,
    ordinary_tokens,
    tokenise,
    vocabulary,
)

__all__ = [
    "VECTOR_KINDS",
    "AttentionCall",
    "Bos",
    "Documents",
    "DrawnRows",
    "EdgeToken",
    "Edges",
    "FileWord",
    "Interception",
    "KeyVectors",
    "LoadedModel",
    "Logits",
    "ModelFacts",
    "ModelSource",
    "ObservedCall",
    "OutputProjection",
    "Predicted",
    "Projections",
    "Recognised",
    "RowBlock",
    "SoftmaxCall",
    "SourceText",
    "StreamLengths",
    "StreamStep",
    "ablated",
    "attention_kernels",
    "attention_modules",
    "cache_folder",
    "check_ids",
    "clear_cache",
    "cut_windows",
    "default_texts",
    "edges",
    "fingerprint",
    "in_eval",
    "install",
    "intercept",
    "layer_norms",
    "list_cache",
    "load",
    "load_rule",
    "mean_loss",
    "model_inputs",
    "next_token_loss",
    "ordinary_tokens",
    "output_projections",
    "predictions",
    "read_stream",
    "read_text",
    "recognise",
    "run",
    "save_rule",
    "swap",
    "token_losses",
    "tokenise",
    "uncompiled",
    "uninstall",
    "vocabulary",
    "with_attention",
    "without_cache",
    "wrap",
]
