"""Raw ops on images and sounds."""

ROWS = """
AdjustContrastv2(images: T, contrast_factor: float32) -> output: T
    where T: float16 | float32=float32
    is tf.image.adjust_contrast(images, contrast_factor)

AdjustHue(images: T, delta: float32) -> output: T
    where T: float16 | float32=float32
    is tf.image.adjust_hue(images, delta)

AdjustSaturation(images: T, scale: float32) -> output: T
    where T: float16 | float32=float32
    is tf.image.adjust_saturation(images, scale)

CombinedNonMaxSuppression(boxes: float32, scores: float32, max_output_size_per_class: int32,
    max_total_size: int32, iou_threshold: float32, score_threshold: float32, pad_per_class:
    bool=False, clip_boxes: bool=True) -> nmsed_boxes: float32, nmsed_scores: float32,
    nmsed_classes: float32, valid_detections: int32
    is tf.image.combined_non_max_suppression(boxes, scores, max_output_size_per_class,
    max_total_size, iou_threshold, score_threshold, pad_per_class, clip_boxes)

CropAndResize(image: T, boxes: float32, box_ind: int32, crop_size: int32, method:
    string='bilinear', extrapolation_value: float=0) -> crops: float32
    where T: float16 | float32 | float64 | int16 | int32 | int64 | int8 | uint16 | uint8
    is tf.image.crop_and_resize(image, boxes, box_ind, crop_size, method, extrapolation_value)

DecodeAndCropJpeg(contents: string, crop_window: int32, channels: int=0, ratio: int=1,
    fancy_upscaling: bool=True, try_recover_truncated: bool=False, acceptable_fraction: float=1,
    dct_method: string='') -> image: uint8
    is tf.image.decode_and_crop_jpeg(contents, crop_window, channels, ratio, fancy_upscaling,
    try_recover_truncated, acceptable_fraction, dct_method)

DecodeBmp(contents: string, channels: int=0) -> image: uint8
    is tf.image.decode_bmp(contents, channels)

DecodeGif(contents: string) -> image: uint8
    is tf.image.decode_gif(contents)

DecodeImage(contents: string, channels: int=0, dtype: type=uint8, expand_animations: bool=True)
    -> image: dtype
    is tf.image.decode_image(contents, channels, dtype, expand_animations=expand_animations)

DecodeJpeg(contents: string, channels: int=0, ratio: int=1, fancy_upscaling: bool=True,
    try_recover_truncated: bool=False, acceptable_fraction: float=1, dct_method: string='') ->
    image: uint8
    is tf.image.decode_jpeg(contents, channels, ratio, fancy_upscaling, try_recover_truncated,
    acceptable_fraction, dct_method)

DecodePng(contents: string, channels: int=0, dtype: type=uint8) -> image: dtype
    is tf.image.decode_png(contents, channels, dtype)

DecodeWav(contents: string, desired_channels: int=-1, desired_samples: int=-1) -> audio:
    float32, sample_rate: int32
    is tf.audio.decode_wav(contents, desired_channels, desired_samples)

DrawBoundingBoxesV2(images: T, boxes: float32, colors: float32) -> output: T
    where T: float16 | float32=float32
    is tf.image.draw_bounding_boxes(images, boxes, colors)

EncodeJpeg(image: uint8, format: string='', quality: int=95, progressive: bool=False,
    optimize_size: bool=False, chroma_downsampling: bool=True, density_unit: string='in',
    x_density: int=300, y_density: int=300, xmp_metadata: string='') -> contents: string
    is tf.io.encode_jpeg(image, format, quality, progressive, optimize_size,
    chroma_downsampling, density_unit, x_density, y_density, xmp_metadata)

EncodeJpegVariableQuality(images: uint8, quality: int32) -> contents: string
    is tf.io.encode_jpeg(images, quality=int(quality))

EncodePng(image: T, compression: int=-1) -> contents: string
    where T: uint16 | uint8=uint8
    is tf.io.encode_png(image, compression)

EncodeWav(audio: float32, sample_rate: int32) -> contents: string
    is tf.audio.encode_wav(audio, sample_rate)

ExtractJpegShape(contents: string, output_type: type=int32) -> image_shape: output_type
    is tf.io.extract_jpeg_shape(contents, output_type)

HSVToRGB(images: T) -> output: T
    where T: floating=float32
    is tf.image.hsv_to_rgb(images)

ImageProjectiveTransformV2(images: dtype, transforms: float32, output_shape: int32,
    interpolation: string, fill_mode: string='CONSTANT') -> transformed_images: dtype
    where dtype: bfloat16 | float16 | float32 | float64 | int32 | int64 | uint8
    is raw.projective_transform.image_projective_transform(images, transforms, output_shape,
    0.0, interpolation, fill_mode)

ImageProjectiveTransformV3(images: dtype, transforms: float32, output_shape: int32, fill_value:
    float32, interpolation: string, fill_mode: string='CONSTANT') -> transformed_images: dtype
    where dtype: bfloat16 | float16 | float32 | float64 | int32 | int64 | uint8
    is raw.projective_transform.image_projective_transform(images, transforms, output_shape,
    fill_value, interpolation, fill_mode)

NonMaxSuppression(boxes: float32, scores: float32, max_output_size: int32, iou_threshold:
    float=0.5) -> selected_indices: int32
    is tf.image.non_max_suppression(boxes, scores, max_output_size, iou_threshold)

NonMaxSuppressionV2(boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold) ->
    selected_indices: int32
    where T: float16 | float32=float32; T_threshold: float16 | float32=float32
    is tf.image.non_max_suppression(boxes, scores, max_output_size, iou_threshold)

NonMaxSuppressionV3(boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold,
    score_threshold: T_threshold) -> selected_indices: int32
    where T: float16 | float32=float32; T_threshold: float16 | float32=float32
    is tf.image.non_max_suppression(boxes, scores, max_output_size, iou_threshold,
    score_threshold)

NonMaxSuppressionWithOverlaps(overlaps: float32, scores: float32, max_output_size: int32,
    overlap_threshold: float32, score_threshold: float32) -> selected_indices: int32
    is tf.image.non_max_suppression_overlaps(overlaps, scores, max_output_size,
    overlap_threshold, score_threshold)

RGBToHSV(images: T) -> output: T
    where T: floating=float32
    is tf.image.rgb_to_hsv(images)

ResizeArea(images: T, size: int32, align_corners: bool=False) -> resized_images: float32
    where T: bfloat16 | float16 | float32 | float64 | int16 | int32 | int64 | int8 | uint16 |
    uint8
    is raw.sampling_part.resize_area(images, size, align_corners)

ResizeBicubic(images: T, size: int32, align_corners: bool=False, half_pixel_centers: bool=False)
    -> resized_images: float32
    where T: bfloat16 | float16 | float32 | float64 | int16 | int32 | int64 | int8 | uint16 |
    uint8
    is raw.sampling_part.resize_interpolated("bicubic", images, size, align_corners,
    half_pixel_centers)

ResizeBilinear(images: T, size: int32, align_corners: bool=False, half_pixel_centers:
    bool=False) -> resized_images: float32
    where T: bfloat16 | float16 | float32 | float64 | int16 | int32 | int64 | int8 | uint16 |
    uint8
    is raw.sampling_part.resize_interpolated("bilinear", images, size, align_corners,
    half_pixel_centers)

ResizeNearestNeighbor(images: T, size: int32, align_corners: bool=False, half_pixel_centers:
    bool=False) -> resized_images: T
    where T: bfloat16 | float16 | float32 | float64 | int16 | int32 | int64 | int8 | uint16 |
    uint8
    is raw.sampling_part.resize_interpolated("nearest", images, size, align_corners,
    half_pixel_centers)
"""
