import Zoetrope
import ZoetropeTerminal
import ZoetropeTestSupport

// The samples of the README and of the documentation, so that they are compiled. `SampleTests` finds
// each block of the documentation in this file, line by line; what stands round them is not compared.

func show(_ bitmap: Bitmap, at time: Duration) {}

func sampleOfTheREADME() async throws {
  let image = try AnimatedImage(contentsOf: "party.gif")
  print(image.canvasSize, image.frames.count, image.playCount)

  for try await frame in image.play() {
    show(frame.bitmap, at: frame.presentationTime)  // on time; a late frame never delays the next
  }
}

func samplesOfOpening(bytes: [UInt8]) async throws {
  let image = try AnimatedImage(contentsOf: "party.gif")
  print(image.format, image.canvasSize, image.playCount)
  for frame in image.frames {
    print(frame.index, frame.rect, frame.delay, frame.disposal, frame.isIndependent)
  }

  do {
    let options = DecodingOptions(damage: .strict, limits: .strict)
    let upload = try AnimatedImage(bytes: bytes, options: options)
    print(upload.frames.count)
  } catch {
    print(error.code, error.frameIndex ?? -1, error.byteOffset ?? -1, error)
  }

  let opened = try await AnimatedImage.open("party.gif")
  print(opened.frames.count)
}

func samplesOfStreaming(
  range: Range<Int>, fetch: (Range<Int>) async throws -> [UInt8]
) async throws -> [UInt8]? {
  let streamed = try await StreamedImage(FileChunks(.standardInput))
  let player = FrameScheduler(streamed)
  for try await frame in player.frames() {
    show(frame.bitmap, at: frame.presentationTime)
  }
  if let ending = await streamed.ending() { print(ending, player.statistics.stalls) }

  for try await frame in streamed.bitmaps() {
    print(frame.index, frame.dirtyRect, streamed.progress.byteCount)
  }

  for await _ in streamed.updates {
    if let partial = try await streamed.partialFrame() {
      print(partial.index, partial.completeRows, partial.rect.height)
    }
  }

  if let ending = await streamed.ending(), ending != .complete {
    print("only \(streamed.frameCount) frames: \(ending)")
  }

  let phases = FrameLoader.shared.phases(for: "stdin") { FileChunks(.standardInput) }
  for await phase in phases {
    if case .poster(let bitmap) = phase { show(bitmap, at: .zero) }
  }

  let cache = ByteRangeCache(byteLimit: 8 << 20)
  for gap in cache.missing(in: range) {
    cache.set(try await fetch(gap), at: gap.lowerBound)
  }
  let bytes = cache.data(for: range)
  return bytes
}

struct HTTPRanges: ByteRangeReading {
  let byteCount: Int
  let get: @Sendable (_ header: String) async throws -> [UInt8]

  func read(_ range: Range<Int>) async throws -> [UInt8] {
    try await get("Range: bytes=\(range.lowerBound)-\(range.upperBound - 1)")
  }
}

func samplesOfRemoteFiles(ranges: HTTPRanges) async throws -> [Bitmap] {
  let image = try await RemoteImage(reading: ranges)
  let middle = try await image.bitmap(at: image.frames.count / 2)
  let player = FrameScheduler(image)
  for try await frame in player.frames() {
    show(frame.bitmap, at: frame.presentationTime)
  }
  print(image.statistics.readCount, image.statistics.byteCount)

  let data = ImageIndex(of: try AnimatedImage(contentsOf: "party.gif")).data

  let index = try ImageIndex(data: data)
  let remote = try await RemoteImage(reading: ranges, index: index)
  let frame = try await remote.bitmap(at: 500)  // one request, for the bytes of frame 500
  return [middle, frame]
}

func samplesOfTakingFrames(of image: AnimatedImage) async throws -> UInt64 {
  var checksum: UInt64 = 0
  for try await frame in image.bitmaps() {
    print(frame.index, frame.bitmap.size, frame.dirtyRect)
  }
  try Task.checkCancellation()

  let reader = FrameReader(image)
  while let frame = try reader.next() {
    checksum &+= UInt64(frame.bitmap[0, 0].alpha)
  }

  let last = try await image.bitmap(at: image.frames.count - 1)
  let halfway = try await image.bitmap(at: .milliseconds(1500))

  let grey = last.converted(to: .grey8)
  let file = try PNGEncoder().encode(halfway)
  return checksum &+ UInt64(grey.bytesPerRow + file.count)
}

func samplesOfPlaying(_ image: AnimatedImage, _ target: TargetSize) async throws {
  let scheduler = FrameScheduler(image)
  for try await frame in scheduler.frames() {
    show(frame.bitmap, at: frame.presentationTime)
  }
  print(scheduler.state, scheduler.statistics.presented)

  let options = PlaybackOptions(
    playCount: .finite(2), startIndex: 3, delayPolicy: .exact, rate: 0.5,
    direction: .backward, latePolicy: .catchUp(maximumRate: 4))
  let everyFrame = FrameScheduler(image, options: .everyFrame)

  let thumbnail = image.play(rendering: Rendering(target: target))
  for await frame in thumbnail.stream { show(frame.bitmap, at: frame.presentationTime) }

  let shared = SharedFrames(image)
  let left = FrameScheduler(sharing: shared)
  let right = FrameScheduler(sharing: shared, options: PlaybackOptions(rate: 2))
  print(options, everyFrame.state, left.state, right.state)

  let status = await animateImage(
    at: "party.gif", options: AnimationOptions(startIndex: 2, loopCount: .finite(3))
  ) { index, bitmap, stop in
    show(bitmap, at: .zero)
    stop = index == 9
  }
  print(status)

  FrameScheduler(image).start { frame in
    show(frame.bitmap, at: frame.presentationTime)
  } onEnd: { state in
    print(state)
  }
}

@MainActor
func sampleOfObserving(_ image: AnimatedImage, _ target: TargetSize) {
  let animator = ImageAnimator(image, rendering: Rendering(target: target))
  animator.start()
  if let picture = animator.image { show(picture, at: .zero) }  // read it where your view observes
  animator.stop()
}

func samplesOfScaling(
  _ image: AnimatedImage, _ bitmap: Bitmap, _ target: TargetSize
) async throws {
  let thumbnail = bitmap.scaled(to: TargetSize(width: 128, height: 128), filter: .lanczos3)
  let scaler = FrameScaler(
    from: image.canvasSize, into: TargetSize(width: 320, height: 200), fit: .fit, filter: .bicubic)
  print(thumbnail.size, scaler.size)

  let loader = FrameLoader()
  for await phase in loader.phases(forFileAt: "cat.gif", rendering: Rendering(target: target)) {
    switch phase {
    case .loading(let progress): print(progress ?? 0)
    case .poster(let bitmap): show(bitmap, at: .zero)
    case .playing(let scheduler):
      for try await frame in scheduler.frames() { show(frame.bitmap, at: frame.presentationTime) }
    case .failed(let error): print(error)
    }
  }

  loader.prefetch(forFileAt: "dog.gif", rendering: Rendering(target: target))
  let poster = try await loader.bitmap(forFileAt: "dog.gif", rendering: Rendering(target: target))
  print(poster.size)
}

func sampleOfTestingTime(
  _ image: AnimatedImage
) async throws -> (first: ScheduledFrame?, second: ScheduledFrame?) {
  let clock = ManualClock()
  let scheduler = FrameScheduler(image, clock: clock)
  var frames = scheduler.frames().makeAsyncIterator()
  let first = try await frames.next()
  await clock.sleepers(count: 1)
  clock.advance(by: .seconds(1))
  let second = try await frames.next()  // due after a second; those before it were skipped
  return (first, second)
}

func sampleOfTestingAConsumer(
  _ scheduler: FrameScheduler, _ clock: ManualClock
) async {
  let (shown, report) = AsyncStream.makeStream(of: Int.self)
  let view = Task {
    for await frame in scheduler.frames().stream { report.yield(frame.index) }
    report.finish()
  }
  var indices = shown.makeAsyncIterator()
  while let index = await indices.next() {
    print(index)  // what is checked here was done by the view
    if index == 3 { break }
    await clock.sleepers(count: 1)
    clock.advance(by: .milliseconds(100))
  }
  view.cancel()
}

func sampleOfPlayingAtOnce(_ image: AnimatedImage) async throws -> [Duration] {
  var options = PlaybackOptions.everyFrame
  options.playCount = .once
  var times: [Duration] = []
  for try await frame in image.play(options: options, clock: ManualClock(.jumping)) {
    times.append(frame.presentationTime)
  }
  return times
}

func sampleOfTheTerminal(image: AnimatedImage) async throws {
  let capabilities = TerminalCapabilities(environment: .current)
  let screen = ScreenSize(columns: 80, rows: 24)
  let layout = FrameLayout(
    of: image.canvasSize, in: CellRect(column: 0, row: 0, columns: 80, rows: 24), screen: screen)
  let encoder = DrawingMode(best: capabilities).encoder(
    layout: layout, screen: screen, pictureSize: image.canvasSize, capabilities: capabilities)
  var writer = FrameWriter(encoder: encoder, isSynchronized: capabilities.hasSynchronizedOutput)
  var bytes: [UInt8] = []
  let scheduler = FrameScheduler(image)
  for try await frame in scheduler.frames() {
    writer.frame(frame.bitmap, changed: frame.dirtyRect, into: &bytes)
    try FileDescriptor.standardOutput.writeAll(bytes)
  }
}

func sampleOfFormats(of image: AnimatedImage, in directory: FilePath) async throws {
  let size = PixelSize(width: 96, height: 96)
  let corners = FrameDrawing("corners", version: 1) { y, size, bytes in
    for x in [0, size.width - 1] where y == 0 || y == size.height - 1 {
      bytes.storeBytes(of: 0, toByteOffset: 4 * x, as: UInt32.self)
    }
  }
  let list = FrameFormat(
    "list", family: "party", size: size, style: .bgra8Premultiplied, drawing: corners)
  let detail = FrameFormat("detail", family: "party", size: PixelSize(width: 480, height: 360))
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
}
