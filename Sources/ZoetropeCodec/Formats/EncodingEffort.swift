/// How much time to spend on making a file small. The pixels are the same at every effort.
public struct EncodingEffort: OpenChoice, Sendable, Hashable, CustomStringConvertible {
  package enum Kind: String, CaseIterable, Sendable { case fast, balanced, small }

  package let kind: Kind
  package init(_ kind: Kind) { self.kind = kind }

  /// For PNG, about half the time of ``balanced``, with files an eighth larger.
  public static let fast = Self(.fast)
  /// The best size per unit of time, by measurement. The default.
  public static let balanced = Self(.balanced)
  /// Tries more ways to store a frame, and keeps the smallest result.
  ///
  /// PNG files are about ten percent smaller than with ``balanced`` and take about 30 times as long; drawings gain
  /// more, noise less. Use it for pictures that are written once and stored or sent often.
  public static let small = Self(.small)
}
