import Zoetrope

func sampleOfFormats(of image: AnimatedImage, in directory: FilePath) async throws {
  let size = PixelSize(width: 96, height: 96)
  let corners = FrameDrawing("corners", version: 1) { y, size, bytes in
    for x in [0, size.width - 1] where y == 0 || y == size.height - 1 {
      bytes.storeBytes(of: 0, toByteOffset: 4 * x, as: UInt32.self)
    }
  }
  let list = FrameFormat(
    "list", size: size, family: "party", format: .bgra8Premultiplied, drawing: corners)
  let detail = FrameFormat("detail", size: PixelSize(width: 480, height: 360), family: "party")
  let store = try FrameStore(at: directory, formats: [list, detail])
  try await store.prefetch(of: image, family: "party")
}

func sampleOfKeepingFrames(in directory: FilePath, target: TargetSize) async throws {
  let store = try FrameStore(at: directory, byteLimit: 256 << 20)
  let cache = MemoryFrameCache(backing: store)
  let known = try AnimatedImage(contentsOf: "party.gif", knownTo: store)
  for try await frame in known.play(rendering: Rendering(target: target), cache: cache) {
    show(frame.bitmap, at: frame.presentationTime)
  }

  let rendition = Rendition(Rendering(target: target), of: known.canvasSize, options: known.options)
  let key = AnimationKey(content: try store.identity(of: known), rendition: rendition)
  print(store.contains(key[0]))
}
