/// A deviation from the file format, and how it was handled.
///
/// `isTolerated` is true for a deviation that costs nothing, such as a missing trailer or surplus
/// pixels, and false for one that costs pixels or frames.
public struct Damage: Sendable, Hashable {
  /// The kind of deviation. Open: more may be added.
  public struct Kind: NamedValue, Sendable, Hashable, CustomStringConvertible {
    /// The kind's name, as JSON output spells it.
    public let name: String
    /// Whether nothing is lost because of it.
    public let isTolerated: Bool
    /// Whether ``DamagePolicy/strict`` throws for it, because something is lost or the pixels may be wrong.
    public let isRefusedByStrict: Bool
    package init(_ name: String, isTolerated: Bool, isRefusedByStrict: Bool? = nil) {
      self.name = name
      self.isTolerated = isTolerated
      self.isRefusedByStrict = isRefusedByStrict ?? !isTolerated
    }
  }

  /// The kind of deviation.
  public let kind: Kind
  /// The affected frame, from 0, or nil outside frames. A frame dropped at the end has an index past the frames of
  /// ``AnimatedImage``.
  public let frameIndex: Int?
  /// The file offset at which the deviation was detected.
  public let byteOffset: Int
  /// The number of complete rows of the frame's own rectangle that could be decoded, or nil if all could or it is
  /// unknown.
  public let validRows: Int?
  /// A plain clause that describes the damage.
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
  /// One sentence: the kind, the cause, and the position.
  public var description: String {
    var text = "\(kind.name): \(detail)"
    if let frameIndex { text += ", frame \(frameIndex)" }
    return text + ", byte \(byteOffset)"
  }
}

extension Damage {
  /// Returns the error that strict reading throws for this damage.
  ///
  /// - Parameter isDueToEnd: Whether the damage was caused by the data ending before the end marker.
  package func error(format: AnimationFormat?, isDueToEnd: Bool = false) -> AnimatedImageError {
    AnimatedImageError(
      isDueToEnd ? .truncated : .malformed,
      "\(kind.name), \(detail)", format: format, frameIndex: frameIndex, byteOffset: byteOffset)
  }
}

/// How to handle files that break their format's rules.
public struct DamagePolicy: OpenChoice, Sendable, Hashable, CustomStringConvertible {
  package enum Kind: String, CaseIterable, Sendable { case salvage, strict, partialRows }

  package let kind: Kind
  package init(_ kind: Kind) { self.kind = kind }

  /// Keep every intact frame and the decoded rows of damaged frames, and report the damage. A frame in which the data
  /// ends is dropped, unless it is the first frame: then its rows are all there is to show.
  public static let salvage = DamagePolicy(.salvage)
  /// Throw at the first deviation that costs pixels, frames or the animation, or after which the
  /// pixels may be wrong (``Damage/Kind/isRefusedByStrict``). Harmless deviations, such as a
  /// missing trailer, are reported as in ``salvage``.
  public static let strict = DamagePolicy(.strict)
  /// Like ``salvage``, but also keep the decoded rows of the frame in which the data ends.
  public static let partialRows = DamagePolicy(.partialRows)
}
