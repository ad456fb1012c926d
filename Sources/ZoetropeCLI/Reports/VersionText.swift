import Zoetrope

/// What `--version` prints: this tool and the libraries that it runs with.
enum VersionText {
  /// The version of this package.
  static let number = "0.1.0"

  static var text: String {
    (["zoetrope \(number)"] + LinkedLibraries.versions).joined(separator: "\n")
  }
}
