/// The format of a file.
///
/// Not an enum, so that later releases can add formats: end a `switch` over it with `default`.
public struct AnimationFormat: RawRepresentable, Sendable, Hashable {
  /// The format's name, as JSON output spells it.
  public let rawValue: String

  /// Creates the format called `rawValue`, whether or not it can be decoded.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// GIF87a or GIF89a.
  public static let gif = AnimationFormat(rawValue: "gif")
  /// A PNG with valid animation chunks.
  public static let apng = AnimationFormat(rawValue: "apng")
  /// A still PNG.
  public static let png = AnimationFormat(rawValue: "png")
}

extension AnimationFormat: CustomStringConvertible {
  /// Same as ``rawValue``.
  public var description: String { rawValue }
}
