import ArgumentParser

/// The files of commands with `--follow`.
enum FollowedFiles {
  /// Refuses several: the first may never end.
  static func check(_ files: [String]) throws {
    guard files.count == 1 else { throw ValidationError("--follow takes one file") }
  }

  /// As ``check(_:)``, if files are followed; otherwise refuses a `timeout`.
  static func check(_ files: [String], isFollowing: Bool, timeout: TimeArgument?) throws {
    if isFollowing { return try check(files) }
    if timeout != nil { throw ValidationError("--follow-timeout wants --follow") }
  }
}

extension ArgumentHelp {
  static var followTimeout: Self {
    Self("Take a followed file for complete when nothing has come for so long.", valueName: "time")
  }
}
