public import struct SystemPackage.FilePath

/// A value that can be converted to the path of a file. `FilePath`, which can hold any path, and `String` conform.
///
/// `URL` does not conform, because a URL may refer to a resource that is not a file. For a file URL, pass its `path`.
public protocol FilePathConvertible: Sendable {
  /// The path of the file.
  var filePath: FilePath { get }
}

extension FilePath: FilePathConvertible {
  /// This path itself.
  public var filePath: FilePath { self }
}

extension String: FilePathConvertible {
  /// A path with the text of this string.
  public var filePath: FilePath { FilePath(self) }
}
