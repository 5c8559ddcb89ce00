"""Raw ops on strings and files."""

ROWS = """
AsString(input: T, precision: int=-1, scientific: bool=False, shortest: bool=False, width:
    int=-1, fill: string='') -> output: string
    where T: bfloat16 | bool | complex128 | complex64 | float16 | float32 | float64 | int16 |
    int32 | int64 | int8 | string | uint16 | uint32 | uint64 | uint8 | variant
    is tf.strings.as_string(input, precision, scientific, shortest, width, fill)

DecodeBase64(input: string) -> output: string
    is tf.io.decode_base64(input)

DecodeCSV(records: string, record_defaults: *OUT_TYPE, field_delim: string=',', use_quote_delim:
    bool=True, na_value: string='', select_cols: list(int)=()) -> output: *OUT_TYPE
    where OUT_TYPE: float32 | float64 | int32 | int64 | string
    is tf.io.decode_csv(records, record_defaults, field_delim, use_quote_delim, na_value,
    select_cols or None)

DecodeCompressed(bytes: string, compression_type: string='') -> output: string
    is tf.io.decode_compressed(bytes, compression_type)

DecodeJSONExample(json_examples: string) -> binary_examples: string
    is tf.io.decode_json_example(json_examples)

DecodeRaw(bytes: string, out_type: type, little_endian: bool=True) -> output: out_type
    is tf.io.decode_raw(bytes, out_type, little_endian)

EditDistance(hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64,
    truth_indices: int64, truth_values: T, truth_shape: int64, normalize: bool=True) -> output:
    float32
    where T: any
    is tf.edit_distance(tf.SparseTensor(hypothesis_indices, hypothesis_values,
    hypothesis_shape), tf.SparseTensor(truth_indices, truth_values, truth_shape), normalize)

EncodeBase64(input: string, pad: bool=False) -> output: string
    is tf.io.encode_base64(input, pad)

MatchingFiles(pattern: string) -> filenames: string
    is tf.io.matching_files(pattern)

ParseTensor(serialized: string, out_type: type) -> output: out_type
    is tf.io.parse_tensor(serialized, out_type)

ReadFile(filename: string) -> contents: string
    is tf.io.read_file(filename)

ReduceJoin(inputs: string, reduction_indices: int32, keep_dims: bool=False, separator:
    string='') -> output: string
    is tf.strings.reduce_join(inputs, reduction_indices, keep_dims, separator)

RegexFullMatch(input: string, pattern: string) -> output: bool
    is tf.strings.regex_full_match(input, pattern)

RegexReplace(input: string, pattern: string, rewrite: string, replace_global: bool=True) ->
    output: string
    is tf.strings.regex_replace(input, pattern, rewrite, replace_global)

SerializeTensor(tensor: T) -> serialized: string
    where T: any
    is tf.io.serialize_tensor(tensor)

StaticRegexFullMatch(input: string, pattern: string) -> output: bool
    is tf.strings.regex_full_match(input, pattern)

StaticRegexReplace(input: string, pattern: string, rewrite: string, replace_global: bool=True)
    -> output: string
    is tf.strings.regex_replace(input, pattern, rewrite, replace_global)

StringFormat(inputs: *T, template: string='%s', placeholder: string='%s', summarize: int=3) ->
    output: string
    where T: any
    is tf.strings.format(template, inputs, placeholder, summarize)

StringJoin(inputs: N*string, separator: string='') -> output: string
    where N: int
    is tf.strings.join(inputs, separator)

StringLength(input: string, unit: string='BYTE') -> output: int32
    is tf.strings.length(input, unit)

StringLower(input: string, encoding: string='') -> output: string
    is tf.strings.lower(input, encoding)

StringStrip(input: string) -> output: string
    is tf.strings.strip(input)

StringToHashBucket(string_tensor: string, num_buckets: int) -> output: int64
    is tf.strings.to_hash_bucket(string_tensor, num_buckets)

StringToHashBucketFast(input: string, num_buckets: int) -> output: int64
    is tf.strings.to_hash_bucket_fast(input, num_buckets)

StringToHashBucketStrong(input: string, num_buckets: int, key: list(int)) -> output: int64
    is tf.strings.to_hash_bucket_strong(input, num_buckets, key)

StringToNumber(string_tensor: string, out_type: type=float32) -> output: out_type
    is tf.strings.to_number(string_tensor, out_type)

StringUpper(input: string, encoding: string='') -> output: string
    is tf.strings.upper(input, encoding)

Substr(input: string, pos: T, len: T, unit: string='BYTE') -> output: string
    where T: index
    is tf.strings.substr(input, pos, len, unit)

UnicodeTranscode(input: string, input_encoding: string, output_encoding: string, errors:
    string='replace', replacement_char: int=65533, replace_control_characters: bool=False) ->
    output: string
    is tf.strings.unicode_transcode(input, input_encoding, output_encoding, errors,
    replacement_char, replace_control_characters)

UnsortedSegmentJoin(inputs: string, segment_ids: Tindices, num_segments: Tnumsegments,
    separator: string='') -> output: string
    where Tindices: index; Tnumsegments: index=int32
    is tf.strings.unsorted_segment_join(inputs, segment_ids, num_segments, separator)

WriteFile(filename: string, contents: string) -> nothing
    is tf.io.write_file(filename, contents)
"""
