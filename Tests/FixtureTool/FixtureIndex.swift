internal import Zoetrope
internal import ZoetropeTestSupport

/// The README of the fixtures: the guide by hand, and one line for every recipe.
struct FixtureIndex {
  let recipes: [Recipe]
  let guide: String

  /// The whole text.
  var text: String {
    var lines = [guide]
    let titles = [
      "Demo": "Demo: what the README and `make demo` show",
      "GIF": "GIF: valid files", "APNG": "APNG: valid files",
      "Bad": "Bad: malformed files and how they are handled",
    ]
    for folder in FixtureLibrary.folders {
      let members = recipes.filter { $0.name.hasPrefix("\(folder)/") }
      guard !members.isEmpty else { continue }
      lines.append("## \(titles[folder] ?? folder) (\(members.count))\n")
      lines.append("| file | bytes | purpose | expected |")
      lines.append("|---|---|---|---|")
      for recipe in members {
        let about = recipe.others.isEmpty ? recipe.about : "\(recipe.about) *\(recipe.others)*"
        lines.append(
          "| `\(recipe.outputPath)` | \(recipe.bytes.count) | \(about) "
            + "| \(Self.summary(of: recipe.expectations)) |")
      }
      lines.append("")
    }
    return lines.joined(separator: "\n")
  }

  private static func summary(of expected: FixtureExpectations) -> String {
    if let code = expected.errorCode { return "error `\(code)`" }
    var parts: [String] = []
    if let format = expected.format { parts.append(format.rawValue) }
    if let count = expected.frameCount { parts.append(count == 1 ? "1 frame" : "\(count) frames") }
    switch expected.playCount {
    case .finite(let plays)?: parts.append(plays == 1 ? "once" : "\(plays) plays")
    case .indefinite?: parts.append("forever")
    case nil: break
    }
    for loss in expected.losses {
      parts.append("damage" + (loss.frameIndex.map { " in frame \($0)" } ?? ""))
    }
    if expected.hasWarning { parts.append("warning") }
    return parts.joined(separator: ", ")
  }
}
