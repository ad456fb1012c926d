import Zoetrope

func samplesOfDamage(upload: [UInt8]) async throws {
  let image = try AnimatedImage(contentsOf: "upload.gif")
  for damage in image.damage { print(damage) }  // such as: missingTrailer: ..., byte 48211
  let lost = image.damage.filter { !$0.kind.isTolerated }
  print(lost.count)

  for try await frame in image.bitmaps() {
    if let damage = frame.damage { print(damage, damage.validRows ?? frame.bitmap.height) }
  }

  let third = try await image.frame(at: 2)
  if let damage = third.damage { print(damage) }

  do {
    let options = DecodingOptions(damage: .strict, limits: .strict)
    let checked = try AnimatedImage(bytes: upload, options: options)
    for try await _ in checked.bitmaps() {}  // damage in pixels is found by decoding them
  } catch {
    print(error.code, error.frameIndex ?? -1, error.byteOffset ?? -1, error)
  }
}
