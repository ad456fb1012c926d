/// The metadata of a file. Values are kept as the file stores them, and none of them is applied to the pixels. Values
/// that the file does not contain are nil or empty.
public struct AnimationMetadata: Sendable, Hashable {
  /// A piece of text with its key.
  public struct Text: Sendable, Hashable {
    /// `Comment` for a GIF comment, or the keyword of a PNG tEXt, zTXt or iTXt chunk.
    public let key: String
    /// The text, decoded as Latin-1 (tEXt and zTXt) or UTF-8 (iTXt and GIF comments). If a GIF comment in UTF-8 was cut
    /// within its last character, that character is left out. Any other GIF comment that is not valid UTF-8 is decoded
    /// as Latin-1 instead, so that no byte is lost; in an iTXt chunk, invalid UTF-8 is replaced. The writers store GIF
    /// comments as UTF-8.
    public let value: String
    package init(key: String, value: String) {
      self.key = key
      self.value = value
    }
  }

  /// A GIF application extension that is not a loop count.
  package struct ApplicationBlock: Sendable, Hashable {
    /// The application identifier and authentication code, eleven characters in total.
    package let identifier: String
    /// The number of payload bytes, not counting the length bytes of sub-blocks.
    package let byteCount: Int
    /// The file offset of the extension.
    package let byteOffset: Int
    package init(identifier: String, byteCount: Int, byteOffset: Int) {
      self.identifier = identifier
      self.byteCount = byteCount
      self.byteOffset = byteOffset
    }
  }

  /// GIF comments and PNG text, in file order.
  public package(set) var texts: [Text] = []
  /// GIF application extensions, in file order.
  package var applicationBlocks: [ApplicationBlock] = []
  /// The XMP packet from a GIF `XMP Data` block or a PNG iTXt chunk.
  public package(set) var xmp: String?
  /// The image gamma from the gAMA chunk, times 100,000.
  public package(set) var gamma: UInt32?
  /// The chromaticities from the cHRM chunk: x and y of white, red, green and blue, each times 100,000.
  public package(set) var chromaticities: [UInt32]?
  /// The rendering intent from the sRGB chunk, 0 to 3.
  public package(set) var srgbIntent: UInt8?
  /// The colour profile from a PNG iCCP chunk, inflated, or from a GIF `ICCRGBG1012` block.
  public package(set) var iccProfile: [UInt8]?
  /// The name of the colour profile in the iCCP chunk.
  package var iccProfileName: String?
  /// The four bytes of the cICP chunk: colour primaries, transfer function, matrix coefficients and full-range flag.
  public package(set) var cicp: [UInt8]?
  /// The pixel density from the pHYs chunk: pixels per unit along x and y, and whether the unit is the metre.
  public package(set) var pixelDensity: PixelDensity?
  /// The Exif data from the eXIf chunk.
  public package(set) var exif: [UInt8]?

  /// The XMP packet, or nil if a GIF cannot hold it. A GIF stores the packet without sub-block lengths, so a NUL in the
  /// packet could end the block early.
  package var xmpForGIF: String? { xmp.flatMap { $0.utf8.contains(0) ? nil : $0 } }

  /// The contents of a pHYs chunk.
  public struct PixelDensity: Sendable, Hashable {
    /// The number of pixels per unit along x.
    public let x: UInt32
    /// The number of pixels per unit along y.
    public let y: UInt32
    /// Whether the unit is the metre. If it is not, only the aspect ratio of the pixels is known.
    public let isPerMeter: Bool
    package init(x: UInt32, y: UInt32, isPerMeter: Bool) {
      self.x = x
      self.y = y
      self.isPerMeter = isPerMeter
    }
  }

  package init() {}
}
