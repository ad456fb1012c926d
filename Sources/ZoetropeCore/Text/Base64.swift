/// Base64 with padding, as in RFC 4648.
package enum Base64 {
  private static let alphabet = [UInt8](
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// Appends `bytes` in base64.
  package static func append(_ bytes: ArraySlice<UInt8>, to output: inout [UInt8]) {
    output.reserveCapacity(output.count + (bytes.count + 2) / 3 * 4)
    let table = alphabet
    let letters = table.span
    let input = bytes.span
    var index = 0
    while index + 3 <= input.count {
      let word =
        UInt32(input[index]) << 16 | UInt32(input[index + 1]) << 8 | UInt32(input[index + 2])
      output.append(letters[Int(word >> 18)])
      output.append(letters[Int(word >> 12 & 63)])
      output.append(letters[Int(word >> 6 & 63)])
      output.append(letters[Int(word & 63)])
      index += 3
    }
    let rest = input.count - index
    guard rest > 0 else { return }
    let word = UInt32(input[index]) << 16 | (rest == 2 ? UInt32(input[index + 1]) << 8 : 0)
    output.append(letters[Int(word >> 18)])
    output.append(letters[Int(word >> 12 & 63)])
    output.append(rest == 2 ? letters[Int(word >> 6 & 63)] : 61)
    output.append(61)
  }
}
