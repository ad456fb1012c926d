/// Writes an APNG chunk by chunk, and counts the sequence numbers.
///
/// As with ``PNGBuilder``, nothing is checked: every number can be set explicitly.
public struct APNGBuilder: Sendable {
  /// The chunks so far.
  public var png = PNGBuilder()
  /// The sequence number of the next fcTL or fdAT.
  public var nextSequence: UInt32 = 0

  /// An empty file.
  public init() {}

  /// The file so far.
  public var bytes: [UInt8] { png.bytes }

  /// Appends an acTL chunk.
  public mutating func animationControl(frames: UInt32, plays: UInt32 = 0) {
    png.chunk("acTL", ZlibStream.bigEndian(frames) + ZlibStream.bigEndian(plays))
  }

  /// Appends an fcTL chunk with the next sequence number.
  public mutating func frameControl(_ control: APNGFrameControl) {
    png.chunk("fcTL", sequence() + control.bytes)
  }

  /// Appends an fdAT chunk with the next sequence number.
  public mutating func frameData(_ data: [UInt8]) { png.chunk("fdAT", sequence() + data) }

  /// Returns the next sequence number as bytes, and increments the counter. `override` is written instead, and counting
  /// continues after it.
  public mutating func sequence(_ override: UInt32? = nil) -> [UInt8] {
    let number = override ?? nextSequence
    nextSequence = number &+ 1
    return ZlibStream.bigEndian(number)
  }
}
