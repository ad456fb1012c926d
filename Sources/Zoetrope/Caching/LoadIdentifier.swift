/// What the caller calls a picture, of whatever type: equal when type and value are.
package struct LoadIdentifier: Sendable, Hashable {
  private let value: any Hashable & Sendable

  package init(_ value: some Hashable & Sendable) { self.value = value }

  package static func == (left: LoadIdentifier, right: LoadIdentifier) -> Bool {
    AnyHashable(left.value) == AnyHashable(right.value)
  }

  package func hash(into hasher: inout Hasher) { AnyHashable(value).hash(into: &hasher) }
}
