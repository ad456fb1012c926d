/// A frame that one thread has taken on, with the memory it decodes into.
struct DecodeClaim {
  let index: Int
  let generation: Int
  let pixels: FramePixels
}
