/// A value with a name, which is also its description.
package protocol NamedValue: CustomStringConvertible {
  var name: String { get }
}

extension NamedValue {
  /// The name of the value.
  public var description: String { name }
}

/// One of several named values, to which later releases may add more. A conforming type is a struct that wraps a
/// non-public enum and has one static member per value. This package can therefore switch over the values exhaustively,
/// but its clients cannot.
package protocol OpenChoice: Sendable, Hashable, CustomStringConvertible {
  associatedtype Kind: RawRepresentable<String>, CaseIterable, Hashable, Sendable

  var kind: Kind { get }
  init(_ kind: Kind)
}

extension OpenChoice {
  /// The name of the choice, as the command line and JSON spell it.
  public var description: String { kind.rawValue }

  /// The same text as ``description``.
  package var rawValue: String { kind.rawValue }

  /// Creates the choice called `rawValue`, or returns nil if there is no choice with that name.
  package init?(rawValue: String) {
    guard let kind = Kind(rawValue: rawValue) else { return nil }
    self.init(kind)
  }

  /// All choices that this release defines.
  package static var allCases: [Self] { Kind.allCases.map { Self($0) } }
}
