/// A value with a name, which is also its description.
package protocol NamedValue: CustomStringConvertible {
  var name: String { get }
}

extension NamedValue {
  /// Its name.
  public var description: String { name }
}

/// One of several named values, to which later releases may add more. Conforming types are structs with static members
/// over a private enum, so this package can switch over them exhaustively and callers cannot.
package protocol OpenChoice: Sendable, Hashable, CustomStringConvertible {
  associatedtype Kind: RawRepresentable<String>, CaseIterable, Hashable, Sendable

  var kind: Kind { get }
  init(_ kind: Kind)
}

extension OpenChoice {
  /// Its name, as the command line and JSON spell it.
  public var description: String { kind.rawValue }

  /// Same as ``description``.
  package var rawValue: String { kind.rawValue }

  /// Creates the choice called `rawValue`, or returns nil if there is none.
  package init?(rawValue: String) {
    guard let kind = Kind(rawValue: rawValue) else { return nil }
    self.init(kind)
  }

  /// All choices of this release.
  package static var allCases: [Self] { Kind.allCases.map { Self($0) } }
}
