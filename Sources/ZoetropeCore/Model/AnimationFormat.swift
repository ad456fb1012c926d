/// The format of an image file.
///
/// This type is not an enum, so that later releases can add formats. A `switch` over formats needs a `default` case.
public struct AnimationFormat: RawRepresentable, Sendable, Hashable {
  /// The format's name, as JSON output spells it.
  public let rawValue: String

  /// Creates the format called `rawValue`, whether or not this library can decode it.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// GIF87a or GIF89a.
  public static let gif = AnimationFormat(rawValue: "gif")
  /// A PNG with valid animation chunks.
  public static let apng = AnimationFormat(rawValue: "apng")
  /// A still PNG.
  public static let png = AnimationFormat(rawValue: "png")
  /// The format in which animations are written unless another one is requested: ``apng``.
  public static let `default` = apng
}

extension AnimationFormat: CustomStringConvertible {
  /// The same text as ``rawValue``.
  public var description: String { rawValue }
}
