"""Reading a row in one go answers what the framework would."""

import pytest
from rest_framework import serializers

from companies.api import fields
from companies.api.fast_serializer import build_read_plan
from companies.api.serializers import StrictSerializer
from companies.models import ApiKey, Membership
from companies.serializers import ApiKeySerializer, CompanySerializer, MemberSerializer


class SampleRow:
    def __init__(self, **values):
        self.__dict__.update(values)

    def counted(self):
        return 7


class RelatedSerializer(StrictSerializer):
    """Looks further than the row."""

    own_word = fields.TextField(source="first_word")
    other_word = fields.TextField(source="other.first_word", required=False)


class SelectiveSerializer(StrictSerializer):
    """Says itself what it reads."""

    own_word = fields.TextField(source="first_word")
    length = serializers.SerializerMethodField("length_of")

    def length_of(self, row):
        return len(row.first_word)


class PlainSerializer(StrictSerializer):
    first_word = fields.TextField()
    often = fields.IntegerField(source="counted", required=False)
    seldom = fields.TextField(required=False)


def serialize_with_framework(serializer, row):
    return serializers.Serializer.to_representation(serializer, row)


@pytest.mark.django_db
@pytest.mark.parametrize("shape", [CompanySerializer, ApiKeySerializer])
def test_fast_serializer_matches_framework_for_stored_rows(shape, acme, api):
    row = acme if shape is CompanySerializer else ApiKey.objects.for_company(acme.id).first()
    row.refresh_from_db()
    assert build_read_plan(shape) is not None
    answer = shape(row).data
    assert answer == serialize_with_framework(shape(row), row)
    assert list(answer) == list(serialize_with_framework(shape(row), row))
    assert None in answer.values()


@pytest.mark.django_db
def test_fast_serializer_matches_framework_for_members(alice):
    row = Membership.objects.select_related("user").first()
    assert (
        build_read_plan(MemberSerializer) is not None
    )  # what it shows of the person the row says itself, of who is known
    assert MemberSerializer(row).data == serialize_with_framework(MemberSerializer(row), row)


@pytest.mark.parametrize(
    ("shape", "row", "answer"),
    [
        (
            RelatedSerializer,
            SampleRow(first_word="a", other=SampleRow(first_word="b")),
            {"ownWord": "a", "otherWord": "b"},
        ),
        (RelatedSerializer, SampleRow(first_word="a", other=None), {"ownWord": "a"}),
        (SelectiveSerializer, SampleRow(first_word="abc"), {"ownWord": "abc", "length": 3}),
    ],
)
def test_serializer_without_read_plan_falls_back_to_framework(shape, row, answer):
    assert build_read_plan(shape) is None
    assert shape(row).data == answer == serialize_with_framework(shape(row), row)


@pytest.mark.parametrize(
    ("row", "answer"),
    [
        (SampleRow(first_word="a", seldom=None), {"firstWord": "a", "often": 7, "seldom": None}),
        (SampleRow(first_word="a"), {"firstWord": "a", "often": 7}),
        ({"first_word": "a", "counted": 3}, {"firstWord": "a", "often": 3}),
    ],
)
def test_fast_serializer_handles_methods_missing_values_and_mappings(row, answer):
    assert PlainSerializer(row).data == answer


def test_fast_serializer_raises_error_for_missing_required_value():
    with pytest.raises(AttributeError, match="first_word"):
        _ = PlainSerializer(SampleRow()).data
