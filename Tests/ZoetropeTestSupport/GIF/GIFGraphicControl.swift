/// A graphic control extension with any values, valid or not.
public struct GIFGraphicControl: Sendable, Hashable {
  /// The delay in hundredths of a second.
  public var delay: UInt16
  /// The disposal method, 0 to 7.
  public var disposal: UInt8
  /// The transparent index; nil clears the flag.
  public var transparentIndex: UInt8?
  /// The user-input flag.
  public var waitsForInput = false
  /// The bytes of the data sub-block: four, unless the extension should be malformed.
  public var byteCount = 4
  /// Whether the block terminator is written.
  public var isTerminated = true

  /// Creates an extension; the defaults are those of a plain one.
  public init(delay: UInt16 = 0, disposal: UInt8 = 0, transparentIndex: UInt8? = nil) {
    self.delay = delay
    self.disposal = disposal
    self.transparentIndex = transparentIndex
  }

  /// The whole extension.
  var bytes: [UInt8] {
    let flags =
      (disposal & 7) << 2 | (waitsForInput ? 2 : 0) | (transparentIndex == nil ? 0 : 1)
    let fields = [flags, UInt8(delay & 255), UInt8(delay >> 8), transparentIndex ?? 0]
    let count = min(max(byteCount, 0), 255)
    let padded = fields + [UInt8](repeating: 0, count: max(count - 4, 0))
    return [0x21, 0xf9, UInt8(count)] + padded.prefix(count) + (isTerminated ? [0] : [])
  }
}
