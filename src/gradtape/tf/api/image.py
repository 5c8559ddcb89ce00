"""tf.image: resizing, cropping, boxes, colours, random augmentation and image similarity."""

from gradtape.tf.image.adjustment import adjust_brightness as adjust_brightness
from gradtape.tf.image.adjustment import adjust_contrast as adjust_contrast
from gradtape.tf.image.adjustment import adjust_gamma as adjust_gamma
from gradtape.tf.image.adjustment import adjust_hue as adjust_hue
from gradtape.tf.image.adjustment import adjust_saturation as adjust_saturation
from gradtape.tf.image.adjustment import per_image_standardization as per_image_standardization
from gradtape.tf.image.bounding_box import crop_and_resize as crop_and_resize
from gradtape.tf.image.bounding_box import draw_bounding_boxes as draw_bounding_boxes
from gradtape.tf.image.color import convert_image_dtype as convert_image_dtype
from gradtape.tf.image.color import grayscale_to_rgb as grayscale_to_rgb
from gradtape.tf.image.color import hsv_to_rgb as hsv_to_rgb
from gradtape.tf.image.color import rgb_to_grayscale as rgb_to_grayscale
from gradtape.tf.image.color import rgb_to_hsv as rgb_to_hsv
from gradtape.tf.image.color import rgb_to_yiq as rgb_to_yiq
from gradtape.tf.image.color import rgb_to_yuv as rgb_to_yuv
from gradtape.tf.image.color import yiq_to_rgb as yiq_to_rgb
from gradtape.tf.image.color import yuv_to_rgb as yuv_to_rgb
from gradtape.tf.image.crop_flip import central_crop as central_crop
from gradtape.tf.image.crop_flip import crop_to_bounding_box as crop_to_bounding_box
from gradtape.tf.image.crop_flip import flip_left_right as flip_left_right
from gradtape.tf.image.crop_flip import flip_up_down as flip_up_down
from gradtape.tf.image.crop_flip import pad_to_bounding_box as pad_to_bounding_box
from gradtape.tf.image.crop_flip import resize_with_crop_or_pad as resize_with_crop_or_pad
from gradtape.tf.image.crop_flip import rot90 as rot90
from gradtape.tf.image.crop_flip import transpose as transpose
from gradtape.tf.image.decode import decode_and_crop_jpeg as decode_and_crop_jpeg
from gradtape.tf.image.decode import decode_bmp as decode_bmp
from gradtape.tf.image.decode import decode_gif as decode_gif
from gradtape.tf.image.decode import decode_image as decode_image
from gradtape.tf.image.decode import decode_jpeg as decode_jpeg
from gradtape.tf.image.decode import decode_png as decode_png
from gradtape.tf.image.decode import extract_jpeg_shape as extract_jpeg_shape
from gradtape.tf.image.decode import is_jpeg as is_jpeg
from gradtape.tf.image.encode import encode_jpeg as encode_jpeg
from gradtape.tf.image.encode import encode_png as encode_png
from gradtape.tf.image.extract_glimpse import extract_glimpse as extract_glimpse
from gradtape.tf.image.jpeg_quality import adjust_jpeg_quality as adjust_jpeg_quality
from gradtape.tf.image.jpeg_quality import random_jpeg_quality as random_jpeg_quality
from gradtape.tf.image.jpeg_quality import (
    stateless_random_jpeg_quality as stateless_random_jpeg_quality,
)
from gradtape.tf.image.non_max_suppression import (
    combined_non_max_suppression as combined_non_max_suppression,
)
from gradtape.tf.image.non_max_suppression import non_max_suppression as non_max_suppression
from gradtape.tf.image.non_max_suppression import (
    non_max_suppression_overlaps as non_max_suppression_overlaps,
)
from gradtape.tf.image.non_max_suppression import (
    non_max_suppression_padded as non_max_suppression_padded,
)
from gradtape.tf.image.non_max_suppression import (
    non_max_suppression_with_scores as non_max_suppression_with_scores,
)
from gradtape.tf.image.random_augmentation import random_brightness as random_brightness
from gradtape.tf.image.random_augmentation import random_contrast as random_contrast
from gradtape.tf.image.random_augmentation import random_crop as random_crop
from gradtape.tf.image.random_augmentation import random_flip_left_right as random_flip_left_right
from gradtape.tf.image.random_augmentation import random_flip_up_down as random_flip_up_down
from gradtape.tf.image.random_augmentation import random_hue as random_hue
from gradtape.tf.image.random_augmentation import random_saturation as random_saturation
from gradtape.tf.image.random_augmentation import (
    stateless_random_brightness as stateless_random_brightness,
)
from gradtape.tf.image.random_augmentation import (
    stateless_random_contrast as stateless_random_contrast,
)
from gradtape.tf.image.random_augmentation import stateless_random_crop as stateless_random_crop
from gradtape.tf.image.random_augmentation import (
    stateless_random_flip_left_right as stateless_random_flip_left_right,
)
from gradtape.tf.image.random_augmentation import (
    stateless_random_flip_up_down as stateless_random_flip_up_down,
)
from gradtape.tf.image.random_augmentation import stateless_random_hue as stateless_random_hue
from gradtape.tf.image.random_augmentation import (
    stateless_random_saturation as stateless_random_saturation,
)
from gradtape.tf.image.random_box import (
    sample_distorted_bounding_box as sample_distorted_bounding_box,
)
from gradtape.tf.image.random_box import (
    stateless_sample_distorted_bounding_box as stateless_sample_distorted_bounding_box,
)
from gradtape.tf.image.resize import ResizeMethod as ResizeMethod
from gradtape.tf.image.resize import resize as resize
from gradtape.tf.image.resize import resize_with_pad as resize_with_pad
from gradtape.tf.image.ssim import image_gradients as image_gradients
from gradtape.tf.image.ssim import psnr as psnr
from gradtape.tf.image.ssim import sobel_edges as sobel_edges
from gradtape.tf.image.ssim import ssim as ssim
from gradtape.tf.image.ssim import ssim_multiscale as ssim_multiscale
from gradtape.tf.image.ssim import total_variation as total_variation
from gradtape.tf.nn.patch import extract_patches as extract_patches
