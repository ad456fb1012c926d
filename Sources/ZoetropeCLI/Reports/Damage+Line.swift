import Zoetrope

extension Damage {
  /// As ``description``, with the frame counted from 1 as in everything that people read; JSON counts
  /// from 0.
  var line: String {
    var text = "\(kind.name): \(detail)"
    if let frameIndex { text += ", frame \(frameIndex + 1)" }
    return text + ", byte \(byteOffset)"
  }
}
