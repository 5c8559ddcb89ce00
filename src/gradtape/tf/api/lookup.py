"""tf.lookup: tables from keys to values, strings for the most part."""

from gradtape.tf.lookup import experimental as experimental
from gradtape.tf.lookup.hash_table import KeyValueTensorInitializer as KeyValueTensorInitializer
from gradtape.tf.lookup.hash_table import StaticHashTable as StaticHashTable
from gradtape.tf.lookup.hash_table import StaticVocabularyTable as StaticVocabularyTable
from gradtape.tf.lookup.hash_table import TextFileIndex as TextFileIndex
from gradtape.tf.lookup.hash_table import TextFileInitializer as TextFileInitializer
