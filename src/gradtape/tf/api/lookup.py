"""tf.lookup: tables that map keys to values."""

from gradtape.tf.lookup import experimental as experimental
from gradtape.tf.lookup.hash_table import KeyValueTensorInitializer as KeyValueTensorInitializer
from gradtape.tf.lookup.hash_table import StaticHashTable as StaticHashTable
from gradtape.tf.lookup.hash_table import StaticVocabularyTable as StaticVocabularyTable
from gradtape.tf.lookup.hash_table import TextFileIndex as TextFileIndex
from gradtape.tf.lookup.hash_table import TextFileInitializer as TextFileInitializer
