/// Who decodes a frame: the thread that composites, or one that works ahead of it.
package enum DecodeSide {
  case consumer, helper
}
