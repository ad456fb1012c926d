import Synchronization
import Zoetrope

/// An animation without a file: frame `n` is a small picture filled with a colour made of `n`.
final class PaintedFrames: FrameProducing {
  static let size = PixelSize(width: 8, height: 4)

  private let gate: Gate?
  private let failing: Int?

  init(gate: Gate? = nil, failing: Int? = nil) {
    self.gate = gate
    self.failing = failing
  }

  func frame(
    at index: Int, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> CompositedFrame {
    gate?.pass(index)
    if index == failing {
      throw AnimatedImageError(.malformed, "a frame made to fail", frameIndex: index)
    }
    return CompositedFrame(
      index: index, bitmap: Self.bitmap(index),
      dirtyRect: index == 0 ? PixelRect(Self.size) : Self.rect(index))
  }

  /// The picture of frame `index`.
  static func bitmap(_ index: Int) -> Bitmap {
    var buffer = PixelBuffer(size: size)
    var bytes = buffer.mutableBytes
    for offset in 0..<bytes.byteCount {
      bytes.storeBytes(
        of: UInt8(truncatingIfNeeded: index &* 31 &+ offset), toByteOffset: offset, as: UInt8.self)
    }
    return buffer.finish()
  }

  /// Where frame `index` draws: one pixel that moves along.
  static func rect(_ index: Int) -> PixelRect {
    PixelRect(x: index % size.width, y: 0, width: 1, height: 1)
  }

  /// What a file with these delays would say of its frames.
  static func controls(_ delays: [FrameDelay]) -> [FrameControl] {
    delays.enumerated().map { index, delay in
      FrameControl(
        index: index, rect: index == 0 ? PixelRect(size) : rect(index), delay: delay,
        disposal: .keep, blend: .over, isIndependent: index == 0, isInterlaced: false,
        palette: .global, byteRange: 0..<0)
    }
  }

  /// Frames to play, decoded by painting.
  static func shared(
    _ delays: [FrameDelay], playCount: PlayCount = .once, keeping: Int = 0, gate: Gate? = nil,
    failing: Int? = nil
  ) -> SharedFrames {
    SharedFrames(
      frames: controls(delays), canvasSize: size, playCount: playCount, keeping: keeping
    ) { () throws(AnimatedImageError) in PaintedFrames(gate: gate, failing: failing) }
  }

  /// `count` frames of 100 ms.
  static func tenths(
    _ count: Int, playCount: PlayCount = .once, keeping: Int = 0, gate: Gate? = nil,
    failing: Int? = nil
  ) -> SharedFrames {
    shared(
      Array(repeating: FrameDelay(centiseconds: 10), count: count), playCount: playCount,
      keeping: keeping, gate: gate, failing: failing)
  }
}
