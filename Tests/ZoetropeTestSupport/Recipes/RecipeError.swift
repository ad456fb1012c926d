/// A line of a recipe that cannot be understood.
package struct RecipeError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The line, from 1.
  package let line: Int
  /// What is wrong with it.
  package let message: String

  init(_ line: Int, _ message: String) {
    self.line = line
    self.message = message
  }

  /// The line and what is wrong with it.
  package var description: String { "line \(line): \(message)" }
}
