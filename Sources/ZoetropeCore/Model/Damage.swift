/// One thing in a file that is not as the format says, and what became of it.
///
/// A deviation that costs nothing (a missing trailer, surplus pixels) has `isTolerated` true;
/// one that costs pixels or frames has it false.
public struct Damage: Sendable, Hashable {
  /// What kind of deviation it is. Open: more may come.
  public struct Kind: Sendable, Hashable {
    /// The kind's name, as JSON output spells it.
    public let name: String
    /// Whether nothing is lost by it.
    public let isTolerated: Bool
    /// Whether ``DamagePolicy/strict`` throws for it: something is lost, or data may be wrong.
    public let isRefusedByStrict: Bool
    package init(_ name: String, isTolerated: Bool, isRefusedByStrict: Bool? = nil) {
      self.name = name
      self.isTolerated = isTolerated
      self.isRefusedByStrict = isRefusedByStrict ?? !isTolerated
    }
  }

  /// What kind of deviation it is.
  public let kind: Kind
  /// The frame it touches, from 0; nil when it is not in a frame.
  public let frameIndex: Int?
  /// The byte of the file at which it was noticed, from 0.
  public let byteOffset: Int
  /// Complete rows of the frame's own rectangle that could be decoded; nil when all, or not known.
  public let validRows: Int?
  /// One plain clause that says what was found.
  public let detail: String

  package init(
    _ kind: Kind, _ detail: String, frameIndex: Int? = nil, byteOffset: Int,
    validRows: Int? = nil
  ) {
    self.kind = kind
    self.frameIndex = frameIndex
    self.byteOffset = byteOffset
    self.validRows = validRows
    self.detail = detail
  }
}

extension Damage: CustomStringConvertible {
  /// One sentence: the kind, what was found, and where.
  public var description: String {
    var text = "\(kind.name): \(detail)"
    if let frameIndex { text += ", frame \(frameIndex)" }
    return text + ", byte \(byteOffset)"
  }
}

extension Damage {
  /// The damage as the error that a strict reader throws.
  package func error(format: AnimationFormat) -> AnimatedImageError {
    AnimatedImageError(
      kind == .cutFrame || kind == .cutBlock ? .truncated : .malformed,
      "\(kind.name), \(detail)", format: format, frameIndex: frameIndex, byteOffset: byteOffset)
  }
}

/// What to do with files that break their format's rules.
public enum DamagePolicy: String, Sendable, Hashable {
  /// Keep every good frame and every row of a damaged one that is not cut off; report the rest.
  case salvage
  /// Throw at the first deviation that costs pixels, frames or the animation, or after which the pixels
  /// may be wrong (``Damage/Kind/isRefusedByStrict``). What costs nothing, as a missing trailer, is
  /// reported as in ``salvage``.
  case strict
  /// As ``salvage``, and also keep the decoded rows of the frame in which the data ends.
  case partialRows
}
