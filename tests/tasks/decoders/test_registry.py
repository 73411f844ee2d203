from __future__ import annotations

import pytest

from edgekit.errors import ModelError
from edgekit.preprocessing import DECODER_PRESETS
from edgekit.tasks import TASKS, decoders
from edgekit.tasks.predictions import Settings


@pytest.mark.parametrize("name", decoders.DECODERS)
def test_every_decoder_is_found_by_its_name_and_has_a_task_and_a_preset(name: str) -> None:
    decoder = decoders.get(name)
    assert decoder.name == name
    assert decoder.task in TASKS
    assert name in DECODER_PRESETS


def test_an_unknown_name_gets_the_nearest_one() -> None:
    with pytest.raises(ModelError) as error:
        decoders.get("yolo8")
    assert "yolo8" in str(error.value)
    assert error.value.hint == "did you mean 'yolov8'?"


def test_a_name_like_none_gets_the_list() -> None:
    with pytest.raises(ModelError) as error:
        decoders.get("qqq")
    assert "yolov8" in (error.value.hint or "")


@pytest.mark.parametrize("name", decoders.DECODERS)
def test_an_unknown_option_is_refused(name: str) -> None:
    with pytest.raises(ModelError, match="sofmax") as error:
        decoders.get(name).build((640, 640), {"sofmax": True})
    assert error.value.hint


@pytest.mark.parametrize("name", ["end2end", "detr"])
def test_finished_detections_do_not_tell_the_number_of_classes(name: str) -> None:
    assert decoders.get(name).class_count({"output0": (1, 300, 6)}) is None


@pytest.mark.parametrize("name", decoders.DECODERS)
def test_a_model_without_outputs_fits_no_decoder(name: str) -> None:
    decoder = decoders.get(name)
    assert not decoder.fits({}, (640, 640))
    with pytest.raises(ModelError, match=f"decoder {name} expects .* the outputs are none"):
        decoder.build((640, 640), {"kpt_shape": [17, 3]} if decoder.task == "pose" else {})({}, Settings())
