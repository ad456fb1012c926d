/// How much time to spend on making a file small. The pixels are the same at every effort.
public struct EncodingEffort: OpenChoice, Sendable, Hashable, CustomStringConvertible {
  package enum Kind: String, CaseIterable, Sendable { case fast, balanced, small }

  package let kind: Kind
  package init(_ kind: Kind) { self.kind = kind }

  /// The fastest effort. Writing a PNG takes about half as long as with ``balanced``, and the file is about an eighth
  /// larger.
  public static let fast = Self(.fast)
  /// The default effort, which gave the best size per unit of time in measurements.
  public static let balanced = Self(.balanced)
  /// The effort that tries more ways to store a frame, and keeps the smallest result.
  ///
  /// PNG files are about ten percent smaller than with ``balanced``, and writing them takes about 30 times as long.
  /// Drawings shrink by more than that, and noise by less. Use this effort for pictures that are written once and
  /// stored or sent often.
  public static let small = Self(.small)
}
