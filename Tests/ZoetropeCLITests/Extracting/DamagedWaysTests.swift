import Glibc
import SystemPackage
import TestRunning
import Testing

/// Every way to extract the frames of damaged files gives the same pixels and reports the same damage.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct DamagedWaysTests {
  private static let fixtures = FilePath(#filePath).removingLastComponent()
    .removingLastComponent().removingLastComponent().removingLastComponent()
    .appending("Fixtures/Bad").string

  /// A way to extract, as a line of the shell; `$BAD` is the folder of damaged files, `$NAMES` the template.
  enum Way: String, CaseIterable {
    case resumed = """
      cp -r direct way && rm $(ls way/* | awk 'NR % 3 == 0') && touch way/*
      "$ZOETROPE" extract $BAD/* -o "way/$NAMES" --format rgba --manifest way.json -q --resume 2>errors
      """
    case restarted = """
      mkdir way
      "$ZOETROPE" extract $BAD/* -o "way/$NAMES" --format rgba --manifest way.json -q --resume 2>errors
      """
    case complete = """
      cp -r direct way && touch way/*
      "$ZOETROPE" extract $BAD/* -o "way/$NAMES" --format rgba --manifest way.json -q --resume 2>errors
      """
    case resumedFromCache = """
      cp -r direct way && rm $(ls way/* | awk 'NR % 2 == 0') && touch way/*
      "$ZOETROPE" extract $BAD/* -o "way/$NAMES" --format rgba --manifest way.json -q --resume \
        --cache frames 2>errors
      """
    case storing = """
      "$ZOETROPE" extract $BAD/* -o "way/$NAMES" --format rgba --manifest way.json -q \
        --cache frames 2>errors
      """
    case stored = """
      "$ZOETROPE" extract $BAD/* -o "first/$NAMES" --format rgba -q --cache frames 2>errors
      "$ZOETROPE" extract $BAD/* -o "way/$NAMES" --format rgba --manifest way.json -q \
        --cache frames 2>errors
      """
  }

  /// The frames of all damaged files, extracted directly.
  private func withDirectFrames(_ body: (Tool, String) throws -> Void) throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    let setting = "BAD='\(Self.fixtures)'; NAMES='{name}-{index:04}.{ext}'; "
    let status = try tool.shell(
      setting
        + """
        "$ZOETROPE" extract $BAD/* -o "direct/$NAMES" --format rgba --manifest direct.json -q 2>errors
        """)
    #expect(status == 1)
    #expect(try tool.list("direct").count > 200)
    try body(tool, setting)
  }

  private func expectSamePixels(_ tool: Tool) throws {
    #expect(try tool.shell("diff -r direct way >differences") == 0)
    #expect(try String(decoding: tool.read("differences"), as: UTF8.self) == "")
  }

  @Test func `resumed and cached extraction has the same pixels, manifest and status`() throws {
    try withDirectFrames { tool, setting in
      for way in Way.allCases {
        #expect(try tool.shell("rm -rf way* first frames") == 0)
        #expect(try tool.shell(setting + way.rawValue) == 1, "\(way)")
        try expectSamePixels(tool)
        let manifests = try ["direct", "way"].map { name in
          String(decoding: try tool.read("\(name).json"), as: UTF8.self)
            .replacing("\"\(name)/", with: "\"")
        }
        #expect(manifests[0] == manifests[1], "\(way)")
        #expect(manifests[0].contains(#""tolerated":false"#))
      }
    }
  }

  @Test func `frames that come out of a pipe have the same pixels`() throws {
    try withDirectFrames { tool, setting in
      let loop = """
        for file in $BAD/*; do
          cat "$file" | "$ZOETROPE" extract - -o "way/${file##*/}-{index:04}.{ext}" --format rgba -q 2>errors
        done; true
        """
      #expect(try tool.shell(setting + loop) == 0)
      try expectSamePixels(tool)
    }
  }

  @Test func `a pipe has the same status and manifest once its frames exist`() throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    let extract = """
      "$ZOETROPE" extract - -o o --format rgba -q --resume --manifest "$MANIFEST" \
        <'\(Self.fixtures)/gif-cut-in-frame-1.gif' 2>errors
      """
    #expect(try tool.shell("MANIFEST=1.json; " + extract) == 1)
    #expect(try tool.shell("MANIFEST=2.json; " + extract) == 1)
    #expect(try tool.read("1.json") == tool.read("2.json"))
  }
}
