/// The bytes of the command line's arguments.
enum RawArguments {
  /// The bytes of which `argument` is the text.
  ///
  /// Only an argument with a replacement character can differ from its bytes; then the one in the
  /// process's list that decodes to it is taken.
  static func bytes(of argument: String) -> [UInt8] {
    guard argument.unicodeScalars.contains("\u{fffd}") else { return Array(argument.utf8) }
    for index in 1..<max(1, Int(CommandLine.argc)) {
      // Entries below `argc` are NUL-terminated strings that live as long as the process.
      guard let pointer = unsafe CommandLine.unsafeArgv[index] else { continue }
      let text = unsafe String(cString: pointer)
      guard text == argument else { continue }
      var bytes: [UInt8] = []
      var offset = 0
      while unsafe pointer[offset] != 0 {
        bytes.append(unsafe UInt8(bitPattern: pointer[offset]))
        offset += 1
      }
      return bytes
    }
    return Array(argument.utf8)
  }
}
