import Zoetrope

func samplesOfScaling(
  _ image: AnimatedImage, _ bitmap: Bitmap, _ target: TargetSize
) async throws {
  let thumbnail = try bitmap.scaled(to: TargetSize(width: 128, height: 128), filter: .lanczos3)
  let half = try bitmap.scaled(to: TargetSize(scale: 0.5))
  let scaler = try FrameScaler(
    from: image.canvasSize, into: TargetSize(width: 320, height: 200), fit: .fit, filter: .bicubic)
  print(thumbnail.size, half.size, scaler.size)

  let loader = FrameLoader()
  for await phase in loader.phases(forFileAt: "cat.gif", rendering: Rendering(target: target)) {
    switch phase {
    case .loading(let progress): print(progress ?? 0)
    case .poster(let bitmap): show(bitmap, at: .zero)
    case .playing(let scheduler):
      for try await frame in scheduler.play() { show(frame.bitmap, at: frame.presentationTime) }
    case .failed(let error): print(error)
    }
  }

  loader.prefetch(forFileAt: "dog.gif", rendering: Rendering(target: target))
  let poster = try await loader.bitmap(forFileAt: "dog.gif", rendering: Rendering(target: target))
  print(poster.size)
}
