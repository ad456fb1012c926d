import SystemPackage
import Testing
import Zoetrope
import ZoetropeTestSupport

/// Plays the compiled fixtures themselves.
@Suite(.timeLimit(.minutes(10))) struct PlaybackFixtureTests {
  static let options: [PlaybackOptions] = [
    PlaybackOptions(), PlaybackOptions(delayPolicy: .exact), PlaybackOptions(delayPolicy: .ffmpeg),
    PlaybackOptions(delayPolicy: .imageIO), PlaybackOptions(rate: 2.5), PlaybackOptions(rate: 0.1),
    PlaybackOptions(fixedDelay: .milliseconds(33)), PlaybackOptions(direction: .backward),
    PlaybackOptions(bounces: true), PlaybackOptions(startIndex: 1),
    PlaybackOptions(delayPolicy: .minimum(.milliseconds(50))),
  ]

  /// The fixtures that are animations.
  private func images() throws -> [(name: String, image: AnimatedImage)] {
    let library = FixtureLibrary()
    return try library.recipeNames().compactMap { name in
      for suffix in ["gif", "png"] {
        guard let bytes = try? library.file("\(name).\(suffix)"),
          let image = try? AnimatedImage(bytes: bytes), image.frames.count > 1
        else { continue }
        return (name, image)
      }
      return nil
    }
  }

  @Test(arguments: options)
  func `every fixture plays at the exact sums of its shown delays`(
    options: PlaybackOptions
  ) async throws {
    let images = try images()
    #expect(images.count >= 40)
    for (name, image) in images {
      var options = options
      options.playCount = .finite(2)
      options.latePolicy = .stretch
      options.buffering = .lossless
      let clock = ManualClock(.jumping)
      let scheduler = FrameScheduler(image, options: options, clock: clock)
      var sum = ExactSum(options)
      for await frame in scheduler.play().stream {
        #expect(frame.presentationTime == sum.time, "\(name) frame \(frame.index)")
        #expect(frame.lateness == .zero)
        sum.add(frame.delay)
      }
      #expect(clock.now.offset == sum.time, "\(name)")
      #expect(scheduler.state == .finished, "\(name)")
    }
  }

  @Test func `backward shows the frames of forward byte for byte`() async throws {
    for (name, image) in try images() {
      var pictures: [PlaybackDirection: [Bitmap]] = [:]
      for direction in [PlaybackDirection.forward, .backward] {
        var options = PlaybackOptions.everyFrame
        options.playCount = .once
        options.direction = direction
        let scheduler = FrameScheduler(image, options: options, clock: ManualClock(.jumping))
        for await frame in scheduler.play().stream {
          pictures[direction, default: []].append(frame.bitmap)
        }
      }
      #expect(pictures[.forward]?.count == image.frames.count, "\(name)")
      #expect(pictures[.forward] == pictures[.backward]?.reversed(), "\(name)")
    }
  }

  @Test func `outside of the dirty rect nothing differs from the picture before`() async throws {
    for (name, image) in try images() {
      var options = PlaybackOptions.everyFrame
      options.playCount = .finite(2)
      options.bounces = true
      let scheduler = FrameScheduler(image, options: options, clock: ManualClock(.jumping))
      var previous: Bitmap?
      for await frame in scheduler.play().stream {
        if let previous {
          #expect(
            previous.agrees(with: frame.bitmap, outside: frame.dirtyRect),
            "\(name) frame \(frame.index)")
        } else {
          #expect(frame.dirtyRect == PixelRect(image.canvasSize))
        }
        previous = frame.bitmap
      }
    }
  }

  @Test func `animateImage plays a file in memory and reports what it cannot play`() async throws {
    let library = FixtureLibrary()
    let bytes = try library.file("APNG/plays-once.png")
    var shown: [Int] = []
    let status = await animateImage(bytes: bytes, clock: ManualClock(.jumping)) { index, _, _ in
      shown.append(index)
    }
    #expect(status == .finished)
    #expect(shown == Array(try AnimatedImage(bytes: bytes).frames.indices))
    #expect(shown.count > 1)
    let other = await animateImage(bytes: Array(1..<99)) { _, _, _ in }
    #expect(other.error?.code == .notAnImage)
    let cut = await animateImage(bytes: Array(bytes.prefix(30))) { _, _, _ in }
    #expect(cut.error?.code == .truncated)
    let missing = await animateImage(at: "/no/such/file") { _, _, _ in }
    #expect(missing.error?.code == .io)
  }
}

/// A sum of shown delays as a fraction, by schoolbook arithmetic of its own.
private struct ExactSum {
  private var numerator: Int128 = 0
  private var denominator: Int128 = 1
  private let options: PlaybackOptions

  init(_ options: PlaybackOptions) { self.options = options }

  mutating func add(_ delay: FrameDelay) {
    var part = (Int128(delay.numerator), Int128(delay.denominator))
    let shown = options.fixedDelay ?? options.delayPolicy.shownDuration(of: delay)
    if shown != delay.duration { part = (Int128(shown / .milliseconds(1)), 1000) }
    numerator = numerator * part.1 + part.0 * denominator
    denominator *= part.1
    var (a, b) = (numerator, denominator)
    while b != 0 { (a, b) = (b, a % b) }
    numerator /= max(a, 1)
    denominator /= max(a, 1)
  }

  /// The sum at the options' rate, which has at most one decimal.
  var time: Duration {
    let tenths = Int128((options.rate * 10).rounded())
    let (seconds, rest) = (numerator * 10).quotientAndRemainder(dividingBy: denominator * tenths)
    return Duration(
      secondsComponent: Int64(seconds),
      attosecondsComponent: Int64(
        rest * 1_000_000_000_000_000_000 / (denominator * tenths)))
  }
}
