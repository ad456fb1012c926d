/// A deviation of a file from its format, with its position and its consequences.
///
/// ``Kind/isTolerated`` is true for a harmless deviation, such as a missing trailer or surplus pixels, and false for a
/// deviation that causes a loss of pixels or frames.
public struct Damage: Sendable, Hashable {
  /// A kind of deviation. Later releases may add kinds.
  public struct Kind: NamedValue, Sendable, Hashable, CustomStringConvertible {
    /// The kind's name, as JSON output spells it.
    public let name: String
    /// Whether a deviation of this kind is harmless, which means that no pixels or frames are lost because of it.
    public let isTolerated: Bool
    /// Whether ``DamagePolicy/strict`` throws an error for a deviation of this kind, because something is lost or
    /// pixels may be wrong.
    public let isRefusedByStrict: Bool
    package init(_ name: String, isTolerated: Bool, isRefusedByStrict: Bool? = nil) {
      self.name = name
      self.isTolerated = isTolerated
      self.isRefusedByStrict = isRefusedByStrict ?? !isTolerated
    }
  }

  /// The kind of deviation.
  public let kind: Kind
  /// The index of the affected frame, counted from 0, or nil if the damage is not in a frame. If a frame at the end of
  /// the file was dropped, its index is past the last frame of the ``AnimatedImage``.
  public let frameIndex: Int?
  /// The file offset at which the deviation was detected.
  public let byteOffset: Int
  /// The number of complete rows of the frame's own rectangle that could be decoded, or nil if all rows could be
  /// decoded or the number is unknown.
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
  /// The kind, the cause and the position of the damage, in one sentence.
  public var description: String {
    var text = "\(kind.name): \(detail)"
    if let frameIndex { text += ", frame \(frameIndex)" }
    return text + ", byte \(byteOffset)"
  }
}

extension Damage {
  /// Returns the same damage, but in frame `index`, or in no frame if `index` is nil.
  package func inFrame(_ index: Int?) -> Damage {
    Damage(kind, detail, frameIndex: index, byteOffset: byteOffset, validRows: validRows)
  }

  /// Returns the error that ``DamagePolicy/strict`` throws for this damage.
  ///
  /// - Parameter isDueToEnd: Whether the cause of the damage is that the data ends before the end marker.
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

  /// Keeps every intact frame and the decoded rows of damaged frames, and reports the damage. If the data ends inside a
  /// frame, that frame is dropped, unless it is the first frame, because then there is nothing else to show.
  public static let salvage = DamagePolicy(.salvage)
  /// Throws an error at the first deviation that causes a loss of pixels, frames or the whole animation, or after which
  /// pixels may be wrong (``Damage/Kind/isRefusedByStrict``). Harmless deviations, such as a missing trailer, are
  /// reported as with ``salvage``.
  public static let strict = DamagePolicy(.strict)
  /// Like ``salvage``, but also keeps the decoded rows of the frame in which the data ends.
  public static let partialRows = DamagePolicy(.partialRows)
}
