/// Reads the structure of one file from its bytes, in as many pieces as they come.
///
/// A pure value: the same bytes give the same ``ScannedImage`` however they are split. No pixel is
/// decoded. Work is linear in the bytes; memory is that of the frame list and bounded metadata.
package protocol Scanning: Sendable {
  /// What is known so far.
  var image: ScannedImage { get }
  /// Whether the file's end marker was read; later bytes are ignored.
  var isAtEnd: Bool { get }
  /// Takes the next bytes of the file.
  mutating func feed(_ bytes: borrowing RawSpan) throws(AnimatedImageError)
  /// Takes the next bytes of the file, in which another thread followed `chains` when it looked ahead.
  mutating func feed(
    _ bytes: borrowing RawSpan, knowing chains: SubBlockChains
  ) throws(AnimatedImageError)
  /// What can be known of bytes ahead of those that were fed.
  static func lookAhead(in bytes: borrowing RawSpan) -> SubBlockChains
  /// Says that there are no more bytes.
  mutating func finish() throws(AnimatedImageError)
}

extension Scanning {
  package mutating func feed(
    _ bytes: borrowing RawSpan, knowing chains: SubBlockChains
  ) throws(AnimatedImageError) { try feed(bytes) }

  package static func lookAhead(in bytes: borrowing RawSpan) -> SubBlockChains { SubBlockChains() }
}
