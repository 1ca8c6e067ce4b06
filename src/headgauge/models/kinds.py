"""Which kind of model a configuration describes, and with which class to load it.

A model that reads no text (a ViT, a speech encoder) cannot be scanned on text and is refused here;
it can still be intercepted.
"""

from typing import Any

from headgauge.errors import InputError
from headgauge.models.facts import Kind


def model_class(config: Any, name: str) -> tuple[Kind, Any]:
    """The kind, and the transformers class whose `from_pretrained` loads it."""
    from transformers import AutoModel, AutoModelForCausalLM, AutoModelForSeq2SeqLM
    from transformers.models.auto import modeling_auto as auto

    kind_of = type(config)
    if config.is_encoder_decoder:
        chosen: Any = AutoModelForSeq2SeqLM
        kind: Kind = "encoder-decoder"
    elif kind_of in auto.MODEL_FOR_MASKED_LM_MAPPING and not getattr(config, "is_decoder", False):
        # BERT and its kin also exist as decoders; a checkpoint that is one says so.
        chosen, kind = AutoModel, "encoder"
    elif kind_of in auto.MODEL_FOR_CAUSAL_LM_MAPPING:
        chosen, kind = AutoModelForCausalLM, "decoder"
    else:
        chosen, kind = AutoModel, "encoder"
    mapping = chosen._model_mapping
    if kind_of not in mapping or not _reads_text(mapping[kind_of], config, kind):
        raise InputError(
            f"{name} ({config.model_type}) takes no text input alone: only language models can be "
            "scanned on text"
        )
    return kind, chosen


def _reads_text(found: Any, config: Any, kind: Kind) -> bool:
    classes = found if isinstance(found, (list, tuple)) else (found,)
    if any(getattr(each, "main_input_name", "input_ids") != "input_ids" for each in classes):
        return False
    # An encoder of text and images (CLIP) wants both at once.
    return kind == "decoder" or not hasattr(config, "vision_config")
