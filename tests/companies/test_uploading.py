"""Files on their way in: what is larger than the settings allow never reaches the disk."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import RequestFactory


@pytest.mark.parametrize(("size", "kept"), [(1024 * 1024, ["a"]), (1024 * 1024 + 1, [])])
def test_a_form_loses_a_file_past_the_limit_and_keeps_what_stood_before_it(settings, size, kept):
    settings.MAX_UPLOAD_MB = 1
    form = {"csrfmiddlewaretoken": "x", "a": SimpleUploadedFile("a.csv", b"x" * size)}
    request = RequestFactory().post("/", form)
    assert request.POST["csrfmiddlewaretoken"] == "x"
    assert list(request.FILES) == kept


def test_the_limit_holds_for_all_files_of_a_form_together(settings):
    settings.MAX_UPLOAD_MB = 1
    form = {name: SimpleUploadedFile(f"{name}.csv", b"x" * 700_000) for name in ("a", "b")}
    assert list(RequestFactory().post("/", form).FILES) == ["a"]
