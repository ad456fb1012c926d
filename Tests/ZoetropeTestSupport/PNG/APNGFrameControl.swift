/// The fields of an fcTL chunk, any values allowed.
public struct APNGFrameControl: Sendable, Hashable {
  /// The width that is written.
  public var width: UInt32
  /// The height that is written.
  public var height: UInt32
  /// The column that is written.
  public var x: UInt32
  /// The row that is written.
  public var y: UInt32
  /// The delay's numerator.
  public var delayNumerator: UInt16 = 1
  /// The delay's denominator.
  public var delayDenominator: UInt16 = 10
  /// The disposal: 0 none, 1 background, 2 previous.
  public var disposal: UInt8 = 0
  /// The blend operation: 0 source, 1 over.
  public var blend: UInt8 = 0

  /// A frame with a delay of a tenth of a second, blend *source* and disposal *none*.
  public init(width: UInt32, height: UInt32, x: UInt32 = 0, y: UInt32 = 0) {
    self.width = width
    self.height = height
    self.x = x
    self.y = y
  }

  /// The data of the chunk after its sequence number.
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    for word in [width, height, x, y] { bytes += ZlibStream.bigEndian(word) }
    for word in [delayNumerator, delayDenominator] {
      bytes += [UInt8(word >> 8), UInt8(word & 255)]
    }
    return bytes + [disposal, blend]
  }
}
