import ArgumentParser

/// The files of commands with `--follow`.
enum FollowedFiles {
  /// Refuses several: the first may never end.
  static func check(_ files: [String]) throws {
    guard files.count == 1 else { throw ValidationError("--follow takes one file") }
  }
}
