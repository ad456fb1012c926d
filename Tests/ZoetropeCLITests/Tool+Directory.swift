/// Gives `body` the tool in a directory with `cat.gif`, which is removed afterwards.
func withTool(
  _ gif: SampleGIF = SampleGIF(), _ body: (Tool) throws -> Void
) throws {
  let tool = try Tool()
  defer { tool.cleanUp() }
  try tool.write(gif.bytes, to: "cat.gif")
  try body(tool)
}
