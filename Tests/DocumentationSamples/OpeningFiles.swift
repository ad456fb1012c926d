import Zoetrope

func samplesOfOpening(bytes: [UInt8]) async throws {
  let image = try AnimatedImage(contentsOf: "party.gif")
  print(image.format, image.canvasSize, image.playCount)
  for frame in image.frames {
    print(frame.index, frame.rect, frame.delay, frame.disposal, frame.byteRange)
  }

  do {
    let options = DecodingOptions(damage: .strict, limits: .strict)
    let upload = try AnimatedImage(bytes: bytes, options: options)
    print(upload.frames.count)
  } catch {
    print(error.code, error.frameIndex ?? -1, error.byteOffset ?? -1, error)
  }

  Task {
    do throws(AnimatedImageError) {
      let image = try await AnimatedImage.open("party.gif")
      print(image.frames.count)
    } catch {
      print(error.code)
    }
  }

  let opened = try await AnimatedImage.open("party.gif")
  print(opened.frames.count)
}
