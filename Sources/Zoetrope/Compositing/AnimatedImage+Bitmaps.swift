extension AnimatedImage {
  /// The canvas as it is shown during frame `index`.
  ///
  /// Decodes on threads of the library's own; the caller's is not blocked. Costs a replay from the
  /// nearest earlier independent frame, since no canvas is kept between calls: take frames that
  /// follow each other from ``bitmaps(_:)``.
  ///
  /// - Throws: `parameter` when there is no such frame, `cancelled` when the task is cancelled
  ///   before the work begins, and as ``FrameReader/next()``.
  public func bitmap(at index: Int) async throws(AnimatedImageError) -> Bitmap {
    try await onDecodeThread { (image) throws(AnimatedImageError) in
      try FrameReader(image).frame(at: index).bitmap
    }
  }

  /// The canvas as it is shown `time` after the start of the first play.
  ///
  /// Times past the last frame of the last play give the last frame.
  ///
  /// - Throws: As ``bitmap(at:)-(Int)``.
  public func bitmap(
    at time: Duration, policy: DelayPolicy = .browser
  ) async throws(AnimatedImageError) -> Bitmap {
    try await bitmap(at: frameIndex(at: time, policy: policy))
  }

  /// The frame that is shown `time` after the start of the first play; negative times give frame 0.
  ///
  /// A frame is shown from its presentation time up to, and not including, the next one's.
  public func frameIndex(at time: Duration, policy: DelayPolicy = .browser) -> Int {
    let durations = frames.map { policy.shownDuration(of: $0.delay) }
    let play = durations.reduce(.zero, +)
    guard time > .zero, play > .zero else { return 0 }
    var rest = time
    switch playCount {
    case .finite(let count) where time >= play * count: return frames.count - 1
    case .finite, .indefinite:
      // Whole plays are taken off in halving steps: `Duration` has no remainder.
      var span = play
      while span <= rest { span = span * 2 }
      while span > play {
        span = span / 2
        if span <= rest { rest -= span }
      }
    }
    for (index, duration) in durations.enumerated() {
      if rest < duration { return index }
      rest -= duration
    }
    return frames.count - 1
  }

  /// The picture that readers without animation show, when it is not a frame (APNG); else frame 0.
  ///
  /// - Throws: As ``bitmap(at:)-(Int)``.
  public func staticBitmap() async throws(AnimatedImageError) -> Bitmap {
    try await onDecodeThread { (image) throws(AnimatedImageError) in try image.renderStaticBitmap()
    }
  }

  /// ``staticBitmap()`` on the calling thread.
  public func renderStaticBitmap() throws(AnimatedImageError) -> Bitmap {
    guard let staticRecord else { return try FrameReader(self).frame(at: 0).bitmap }
    let pixels = FramePixels()
    var worker = FrameWorker(header: header, options: options)
    try worker.decode(staticRecord, header: header, source: source, into: pixels)
    var compositor = Compositor(size: canvasSize, format: options.canvasFormat)
    _ = compositor.draw(pixels, staticRecord.control)
    return compositor.canvas.bitmap
  }

  /// The composited frames of `range`, untimed, each decoded when it is asked for.
  ///
  /// Later frames decode meanwhile on all processors (see ``DecodingOptions/parallelism``), within a
  /// bounded number of bytes. Frames before the range are decoded too when its first frame needs
  /// them. Each iterator starts over.
  public func bitmaps(_ range: some RangeExpression<Int> & Sendable = 0...) -> BitmapSequence {
    BitmapSequence(
      image: self, range: range.relative(to: frames.indices).clamped(to: frames.indices))
  }

  /// Runs `work` on a decode thread.
  private func onDecodeThread<Value: Sendable>(
    _ work: @escaping @Sendable (AnimatedImage) throws(AnimatedImageError) -> Value
  ) async throws(AnimatedImageError) -> Value {
    guard !Task.isCancelled else {
      throw AnimatedImageError(.cancelled, "cancelled before decoding", format: format)
    }
    let result = await DecodeThreads.shared.result { [self] in
      Result { () throws(AnimatedImageError) in try work(self) }
    }
    return try result.get()
  }
}
