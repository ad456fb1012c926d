import Foundation

/// The words of command lines in help and README.
enum CommandWords {
  /// The words of the first call of the tool in `line`, after quotes and a pipe into it.
  static func words(of line: String) -> [String] {
    let pipe = line.components(separatedBy: "| ")
    let call = pipe.first { $0.hasPrefix("zoetrope ") } ?? line
    var words: [String] = [""]
    var isQuoted = false
    for letter in call.components(separatedBy: " && ")[0] {
      if letter == "'" {
        isQuoted.toggle()
      } else if letter == " ", !isQuoted {
        words.append("")
      } else if letter != "|" {
        words[words.count - 1].append(letter)
      }
    }
    return words.filter { !$0.isEmpty }
  }
}
