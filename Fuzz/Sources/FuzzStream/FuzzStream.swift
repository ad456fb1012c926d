import FuzzSupport
import Zoetrope

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames
@testable import ZoetropeTestSupport

/// Streams: however the bytes are split, and whatever is asked for while they stall, a stream gives the
/// frames, pixels and damage of the whole file, and a frame in arrival shows the rows that a file cut there
/// has.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzStream(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = unsafe FuzzBytes.copy(data, count)
  Blocking.run { await StreamRun(bytes).run() }
  return 0
}

/// Keeps the structure of most inputs, whichever format they have.
@_cdecl("LLVMFuzzerCustomMutator")
public func mutateStream(
  _ data: UnsafeMutablePointer<UInt8>, _ count: Int, _ room: Int, _ seed: CUnsignedInt
) -> Int {
  unsafe FuzzMutator.run(data, count, room, seed: seed) {
    GIFMutation.mutate($1, with: &$0) ?? APNGMutation.mutate($1, with: &$0)
  }
}

/// One input as a stream, beside the whole file.
private struct StreamRun {
  private let bytes: [UInt8]
  private let options: DecodingOptions
  private var random: SplitMix64

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    let hash = FuzzBytes.hash(bytes)
    options = RandomEdits.smallLimits(hash)
    random = SplitMix64(seed: hash)
  }

  consuming func run() async {
    let core = StreamCore(options: options, storage: .init())
    var failure: AnimatedImageError?
    var reader: RenderedReader?
    let partial = PartialReader(core)
    do throws(AnimatedImageError) {
      var start = 0
      while start < bytes.count {
        let end = min(start + pieceSize(), bytes.count)
        if try await core.receive(Array(bytes[start..<end])) { break }
        start = end
        // A stall, in which somebody looks.
        if random.next() % 4 == 0 {
          if reader == nil, core.frameCount > 0, let header = core.header {
            reader = RenderedReader(ArrivingImage(core, header))
          }
          look(core, reader, partial, received: start)
        }
      }
    } catch {
      failure = error
    }
    core.settle(failure.map { .failed($0) })
    compare(core)
  }

  private mutating func pieceSize() -> Int {
    switch random.next() % 4 {
    case 0: 1
    case 1: 1 + Int(random.next() % 8)
    case 2: 1 + Int(random.next() % 64)
    default: 1 + Int(random.next() % 1024)
    }
  }

  private mutating func look(
    _ core: StreamCore, _ reader: RenderedReader?, _ partial: PartialReader, received: Int
  ) {
    if let reader {
      _ = try? reader.frame(at: Int(random.next() % UInt64(core.frameCount))) { false }
    }
    guard let frame = try? partial.next(isCancelled: { false }) else { return }
    FuzzBytes.require(frame.index == core.frameCount, "\(frame.index) of \(core.frameCount)")
    FuzzBytes.require(
      frame.completeRows <= frame.shownRows && frame.shownRows <= frame.rect.height,
      "\(frame.completeRows), \(frame.shownRows) of \(frame.rect)")
    guard frame.passCount == 1 else { return }
    var options = options
    options.damage = .partialRows
    guard let cut = try? AnimatedImage(bytes: Array(bytes[..<received]), options: options),
      cut.frames.count == frame.index + 1,
      let whole = try? FrameReader(cut).frame(at: frame.index)
    else { return }
    FuzzBytes.require(
      frame.bitmap == whole.bitmap, "frame \(frame.index) at \(received) bytes is not as cut there")
  }

  /// What the stream gave is what the whole file gives.
  private func compare(_ core: StreamCore) {
    let whole = Result { () throws(AnimatedImageError) in
      try AnimatedImage(bytes: bytes, options: options)
    }
    let ending = core.ending
    switch whole {
    case .failure(let error):
      FuzzBytes.require(ending?.error != nil, "\(error), the stream is \(ending, default: "open")")
      if let image = core.image {
        FuzzBytes.require(image.frames == core.frames, "frames of a failed stream")
        let reader = FrameReader(image)
        for index in image.frames.indices { _ = try? reader.frame(at: index) }
      }
    case .success(let whole):
      guard let image = core.image else { fatalError("no image, \(ending, default: "open")") }
      FuzzBytes.require(image.frames == whole.frames, "\(image.frames)\n\(whole.frames)")
      FuzzBytes.require(
        image.format == whole.format && image.canvasSize == whole.canvasSize
          && image.playCount == whole.playCount && image.metadata == whole.metadata
          && image.staticImage == whole.staticImage, "properties")
      // Bytes behind the end marker are not waited for.
      FuzzBytes.require(
        image.damage.filter { $0.kind != .trailingData }
          == whole.damage.filter { $0.kind != .trailingData }, "\(image.damage)\n\(whole.damage)")
      let (left, right) = (RenderedReader(ArrivingImage(core, whole.header)), FrameReader(whole))
      for index in whole.frames.indices {
        let found = Result { () throws(AnimatedImageError) in try left.frame(at: index) { false } }
        let expected = Result { () throws(AnimatedImageError) in try right.frame(at: index) }
        switch (found, expected) {
        case (.success(let found), .success(let expected)):
          FuzzBytes.require(
            found.bitmap == expected.bitmap && found.damage == expected.damage, "frame \(index)")
        case (.failure(let found), .failure(let expected)):
          FuzzBytes.require(found == expected, "\(found)\n\(expected)")
          return
        default: fatalError("frame \(index): \(found) and \(expected)")
        }
      }
    }
  }
}
