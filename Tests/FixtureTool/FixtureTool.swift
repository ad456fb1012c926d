internal import Glibc
internal import ZoetropeTestSupport

/// `zoetrope-fixtures [--check] [FOLDER]`: compiles every recipe, or compares with what is there.
@main
enum FixtureTool {
  static func main() {
    var arguments = CommandLine.arguments.dropFirst()
    let checks = arguments.first == "--check"
    if checks { arguments = arguments.dropFirst() }
    do {
      let library = FixtureLibrary(root: arguments.first)
      let outputs = try outputs(of: library)
      let stale = checks ? check(outputs, library) : try compile(outputs, library)
      exit(stale == 0 ? 0 : 1)
    } catch {
      fail("\(error)")
      exit(2)
    }
  }

  /// Every file that the recipes make, by path below the root.
  private static func outputs(of library: FixtureLibrary) throws -> [(path: String, bytes: [UInt8])]
  {
    var recipes: [Recipe] = []
    for name in try library.recipeNames() {
      do {
        recipes.append(try library.recipe(name))
      } catch let error as RecipeError {
        throw NamedError(text: "\(name).recipe, \(error)")
      }
    }
    let guide = try library.file("Recipes/GUIDE.md")
    let readme = FixtureIndex(recipes: recipes, guide: String(decoding: guide, as: UTF8.self))
    return recipes.map { ($0.outputPath, $0.bytes) } + [("README.md", Array(readme.text.utf8))]
  }

  private static func compile(
    _ outputs: [(path: String, bytes: [UInt8])], _ library: FixtureLibrary
  ) throws -> Int {
    for folder in FixtureLibrary.folders {
      try FixtureFile.makeFolder("\(library.root)/\(folder)")
    }
    var written = 0
    for output in outputs where (try? library.file(output.path)) != output.bytes {
      try FixtureFile.write(output.bytes, to: "\(library.root)/\(output.path)")
      written += 1
    }
    print("\(outputs.count) files, \(written) written")
    return 0
  }

  private static func check(
    _ outputs: [(path: String, bytes: [UInt8])], _ library: FixtureLibrary
  ) -> Int {
    var stale = outputs.filter { (try? library.file($0.path)) != $0.bytes }.map(\.path)
    let known = Set(outputs.map(\.path))
    for folder in FixtureLibrary.folders {
      let present = (try? FixtureFile.list("\(library.root)/\(folder)")) ?? []
      stale += present.map { "\(folder)/\($0)" }.filter { !known.contains($0) }
    }
    for path in stale { fail("\(path) is not what the recipes make; run `make fixtures`") }
    return stale.count
  }

  private static func fail(_ text: String) {
    let line = Array("zoetrope-fixtures: \(text)\n".utf8)
    // The length passed is the array's own; a message that cannot be written is lost.
    _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}

/// An error with the file in front.
private struct NamedError: Error, CustomStringConvertible {
  let text: String
  var description: String { text }
}
