import Dispatch
import Synchronization
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames

/// Bitmaps of single frames and of ranges: which ones, and what ends them.
@Suite(.timeLimit(.minutes(10))) struct BitmapAccessTests {
  private static let bytes = DeltaGIF.make(width: 48, height: 48, frameCount: 12, patch: 9)

  /// An APNG of one grey pixel: 10 as the static image, then 20 and 30 as frames.
  private static var hiddenStatic: [UInt8] {
    var file = APNGBuilder()
    file.png.signature()
    file.png.chunk("IHDR", PNGBuilder.header(width: 1, height: 1, layout: PNGLayout(.gray)))
    file.animationControl(frames: 2)
    file.png.chunk("IDAT", ZlibStream().encode([0, 10]))
    for value: UInt8 in [20, 30] {
      file.frameControl(APNGFrameControl(width: 1, height: 1))
      file.frameData(ZlibStream().encode([0, value]))
    }
    file.png.chunk("IEND")
    return file.bytes
  }

  private static func grey(_ value: UInt8) -> RGBA { RGBA(red: value, green: value, blue: value) }

  @Test func `the static image is the one that is not a frame, otherwise the first frame`()
    async throws
  {
    let hidden = try AnimatedImage(bytes: Self.hiddenStatic)
    #expect(try await hidden.staticBitmap()[0, 0] == Self.grey(10))
    let stored = StoredFrameReader(hidden)
    #expect(try stored.staticImage()?.bitmap[0, 0] == Self.grey(10))
    #expect(try stored.frame(at: 1)?.bitmap[0, 0] == Self.grey(30))

    let film = try AnimatedImage(bytes: Self.bytes)
    #expect(try await film.staticBitmap() == FrameReader(film).next()?.bitmap)
    #expect(try StoredFrameReader(film).staticImage() == nil)
  }

  @Test(arguments: [-1, 2, .max]) func `a frame that does not exist is a parameter error`(
    index: Int
  ) throws {
    let image = try AnimatedImage(bytes: Self.hiddenStatic)
    let errors = [
      #expect(throws: AnimatedImageError.self) { try StoredFrameReader(image).frame(at: index) },
      #expect(throws: AnimatedImageError.self) { try FrameReader(image).frame(at: index) },
    ]
    #expect(errors.map { $0?.code } == [.parameter, .parameter])
  }

  @Test func `a frame of 16 bits over another is blended in 16 bits`() throws {
    var file = APNGBuilder()
    file.png.signature()
    let layout = PNGLayout(.rgba, depth: 16)
    file.png.chunk("IHDR", PNGBuilder.header(width: 1, height: 1, layout: layout))
    file.animationControl(frames: 2)
    var control = APNGFrameControl(width: 1, height: 1)
    file.frameControl(control)
    file.png.chunk("IDAT", ZlibStream().encode([0, 0x10, 0, 0x20, 1, 0xff, 0xfe, 0xff, 0xff]))
    control.blend = 1
    file.frameControl(control)
    file.frameData(ZlibStream().encode([0, 0xea, 0x60, 0, 0, 0xff, 0xff, 0x80, 0]))
    file.png.chunk("IEND")
    let image = try AnimatedImage(
      bytes: file.bytes, options: DecodingOptions(keeps16Bit: true))
    let bitmap = try FrameReader(image).frame(at: 1).bitmap
    // By the PNG specification, in whole numbers: (over * alpha + under * (65535 - alpha)) / 65535.
    func blended(_ over: Int, _ under: Int) -> UInt16 {
      let sum = over * 32768 + under * 32767
      return UInt16((2 * sum + 65535) / (2 * 65535))
    }
    let expected: [UInt16] = [
      blended(60000, 4096), blended(0, 8193), blended(65535, 65534), 65535,
    ]
    let words = (0..<4).map { lane in
      unsafe bitmap.bytes.unsafeLoad(fromByteOffset: lane * 2, as: UInt16.self)
    }
    #expect(words == expected)
  }

  @Test func `the frame at a time comes round with every play`() throws {
    let image = try AnimatedImage(bytes: Self.bytes)
    let durations = image.frames.map { DelayPolicy.browser.shownDuration(of: $0.delay) }
    let play = durations.reduce(.zero, +)
    #expect(image.playCount == .indefinite)
    for plays in [0, 1, 2, 3, 7, 1000, 123_457] {
      var time = play * plays
      for (index, duration) in durations.enumerated() {
        // The very start of the first play shows frame 0 as well.
        #expect(image.frameIndex(at: time) == index)
        #expect(image.frameIndex(at: time + duration - .nanoseconds(1)) == index)
        time += duration
      }
    }
    #expect(image.frameIndex(at: .seconds(-9)) == 0)
  }

  @Test(arguments: [0, 1000] as [UInt32])
  func `plays that together last longer than any duration have a frame at each time`(
    plays: UInt32
  ) throws {
    var file = APNGBuilder()
    file.png.signature()
    file.png.chunk("IHDR", PNGBuilder.header(width: 1, height: 1, layout: PNGLayout(.gray)))
    file.animationControl(frames: 2, plays: plays)
    file.frameControl(APNGFrameControl(width: 1, height: 1))
    file.png.chunk("IDAT", ZlibStream().encode([0, 10]))
    file.frameControl(APNGFrameControl(width: 1, height: 1))
    file.frameData(ZlibStream().encode([0, 20]))
    file.png.chunk("IEND")
    let image = try AnimatedImage(bytes: file.bytes)
    // The longest delay; a `Duration` holds some 900 million of it.
    let delay = Duration.seconds(10_000_000_000)
    let policy = DelayPolicy.minimum(.seconds(Int64.max))
    #expect(image.frameIndex(at: .seconds(5), policy: policy) == 0)
    let counts = [1, 2, 3, 16, 17] + (plays == 0 ? [900_000_000, 900_000_001] : [])
    for count in counts {
      #expect(image.frameIndex(at: delay * count, policy: policy) == count % 2)
    }
  }

  @Test func `a task that is already cancelled has nothing decoded`() async throws {
    let source = CountingSource(Self.bytes)
    let image = try source.open()
    let codes = await Task {
      unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
      var codes: [AnimatedImageError.Code] = []
      do throws(AnimatedImageError) { _ = try await image.bitmap(at: 3) } catch {
        codes.append(error.code)
      }
      do throws(AnimatedImageError) { _ = try await image.staticBitmap() } catch {
        codes.append(error.code)
      }
      return codes
    }.value
    #expect(codes == [.cancelled, .cancelled])
    #expect(source.count == 0)
  }

  @Test func `a static image is not waited for once the task is cancelled`() async throws {
    let begun = TaskGate()
    let end = DispatchSemaphore(value: 0)
    // However this test ends, the read does.
    defer { end.signal() }
    let source = CountingSource(Self.hiddenStatic) { _ in
      begun.open()
      end.wait()
      end.signal()
    }
    let image = try source.open()
    let task = Task { try await image.staticBitmap() }
    await begun.wait()
    task.cancel()
    let error = await #expect(throws: AnimatedImageError.self) { try await task.value }
    #expect(error?.code == .cancelled)
  }

  @Test func `a sequence that is cancelled while it decodes ends before the next frame`()
    async throws
  {
    let gate = TaskGate()
    // Under the thread sanitizer the module has one of its own.
    let task = Synchronization.Mutex<Task<Int, any Error>?>(nil)
    let source = CountingSource(Self.bytes) { number in
      if number == 3 { task.withLock { $0?.cancel() } }
    }
    let image = try source.open()
    let running = Task {
      await gate.wait()
      var count = 0
      // All frames before it have to be decoded for it.
      for try await _ in image.bitmaps(10...) { count += 1 }
      return count
    }
    task.withLock { $0 = running }
    gate.open()
    #expect(try await running.value == 0)
    #expect(source.count == 3)
  }

  @Test func `a sequence ends with the error of the frame that cannot be read`() async throws {
    let source = CountingSource(Self.bytes) { (number) throws(AnimatedImageError) in
      if number > 2 { throw AnimatedImageError(.io, "gone") }
    }
    let frames = try source.open().bitmaps()
    var iterator = frames.makeAsyncIterator()
    #expect(try await iterator.next()?.index == 0)
    #expect(try await iterator.next()?.index == 1)
    var codes: [AnimatedImageError.Code] = []
    do throws(AnimatedImageError) { _ = try await iterator.next() } catch {
      codes.append(error.code)
    }
    #expect(codes == [.io])
    #expect(try await iterator.next() == nil)
    #expect(source.count == 3)
  }

  @Test(arguments: 1..<8) func `a read that fails while earlier frames are sought costs no frame`(
    failing: Int
  ) throws {
    // Each frame covers the canvas, so a jump begins at it; it is damaged, so what lay below counts.
    let source = CountingSource(FrameReaderTests.damaged(5)) {
      (number) throws(AnimatedImageError) in
      if number == failing { throw AnimatedImageError(.io, "this read fails") }
    }
    let reader = FrameReader(try source.open())
    var codes: [AnimatedImageError.Code] = []
    do throws(AnimatedImageError) { _ = try reader.frame(at: 3) } catch { codes.append(error.code) }
    let pixel = RGBA(red: 9, green: 9, blue: 9)
    #expect(try reader.frame(at: 3).bitmap[0, 0] == pixel)
    #expect(try reader.next()?.bitmap[0, 0] == pixel)
    #expect(codes == [.io] || failing > 5)
  }
}
