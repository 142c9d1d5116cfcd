package extract_test

import (
	"strings"
	"testing"

	"evoke/extract"
	"evoke/extract/message"
)

// left is what the filter leaves of a user's text.
func left(s string) string {
	turns, _ := extract.Filter([]message.Message{user(s)}, extract.FilterOptions{})
	if len(turns) == 0 {
		return ""
	}
	return turns[0].Content
}

func TestMentionsOfUploadsGo(t *testing.T) {
	for in, want := range map[string]string{
		"I uploaded report.pdf":                                                      "",
		"I've just uploaded report.pdf.":                                             "",
		"Hi, I have attached my resume.":                                             "",
		"see the attached file":                                                      "",
		"Please see the attached document for details.":                              "",
		"Please find attached my CV":                                                 "",
		"Attached is the contract.":                                                  "",
		"I uploaded a.pdf, b.pdf and c.docx.":                                        "",
		"I attached two files: a.csv and b.csv":                                      "",
		"Here's the file: /mnt/data/report.pdf":                                      "",
		"Thanks for uploading report.pdf!":                                           "",
		"I uploaded report.pdf, and my budget is 5,000 euros.":                       "my budget is 5,000 euros.",
		"I uploaded report.pdf and my budget is 5,000 euros.":                        "my budget is 5,000 euros.",
		"I uploaded report.pdf. I live in Berlin. report.pdf has three parts.":       "I live in Berlin. [file] has three parts.",
		"I live in Berlin. I uploaded the file \"Q3 Report.xlsx\" for you.":          "I live in Berlin.",
		"Please sum up the attached report in German.":                               "Please sum up [file] in German.",
		"What does the file I uploaded say about tea?":                               "What does [file] say about tea?",
		"Based on the document you uploaded, your budget is 5,000 euros.":            "Based on [file], your budget is 5,000 euros.",
		"According to the attachment, rent is due on Friday.":                        "According to [file], rent is due on Friday.",
		"I uploaded my resume, which shows that I worked at Acme.":                   "which shows that I worked at Acme.",
		"I'm allergic to nuts\nI attached the menu.pdf\nIs it safe?":                 "I'm allergic to nuts\nIs it safe?",
		"Compare the attached budget.xlsx with my plan to save 200 a month":          "Compare [file] with my plan to save 200 a month",
		"[File: report.pdf] I live in Berlin":                                        "I live in Berlin",
		"I'm uploading my CV now.":                                                   "",
		"I just sent you report.pdf.":                                                "",
		"I've shared the document with you above.":                                   "",
		"I just uploaded my thesis (thesis_v2.docx) and I need feedback by Friday.":  "I need feedback by Friday.",
		"Attached you will find my CV.":                                              "",
		"PFA the report.":                                                            "",
		"the user uploaded a file named report.pdf":                                  "",
		"The file report.pdf has been uploaded. I like tea.":                         "I like tea.",
		"Check out the PDF I attached; I'm allergic to peanuts.":                     "Check out [file]; I'm allergic to peanuts.",
		"I saved it under /mnt/user-data/uploads/report.pdf, by the way.":            "I saved it under [file], by the way.",
		"Please take a look at the file I just uploaded and tell me what you think.": "tell me what you think.",
		"我刚传了个文件给你":                                                                  "",
		"我把报告发给你了":                                                                   "",
		"如附件所示，我的名字是李雪":                                                              "如文件所示，我的名字是李雪",
		"这是我的简历.pdf，我住在上海":                                                           "我住在上海",
		"我上傳了檔案，我住在台北":                                                               "我住在台北",
		"用户上传了文件 report.pdf":                                                         "",
		"你好，我上传了两张照片，其中一张是我的狗旺财":                                                     "你好，其中一张是我的狗旺财",
		"我上传了报告.pdf":                                                                 "",
		"我刚刚上传了一份合同。":                                                                "",
		"请查看附件。":                                                                     "",
		"详情请见附件，谢谢":                                                                  "谢谢",
		"附件是我的简历。":                                                                   "",
		"我把文件上传了":                                                                    "",
		"我上传了报告.pdf，我的预算是5000元。":                                                     "我的预算是5000元。",
		"我住在柏林。我已经上传了照片。":                                                            "我住在柏林。",
		"附件里的预算是5000元":                                                               "文件里的预算是5000元",
		"请根据我上传的文件总结，我喜欢简短的回答":                                                       "请根据文件总结，我喜欢简短的回答",
		"你上传的报告显示你的预算是5000元":                                                         "文件显示你的预算是5000元",
		"帮我翻译附件 report.docx 的第二段":                                                    "帮我翻译文件 的第二段",
	} {
		if got := left(in); got != want {
			t.Errorf("%q: left %q, want %q", in, got, want)
		}
	}
}

// Uploading and attaching as such are matters like any other.
func TestWhatOnlySoundsLikeAnUploadStays(t *testing.T) {
	for _, s := range []string{
		"I upload a video to YouTube every week.",
		"I uploaded my first song to Spotify yesterday",
		"I uploaded the photos to Instagram, and my sister liked them.",
		"How do I attach a file in Gmail?",
		"What is the attachment size limit?",
		"I have an anxious attachment style.",
		"I'm very attached to my dog.",
		"We have an attached garage.",
		"I attached the shelf to the wall.",
		"The upload failed with error 413.",
		"I work on a service where users upload documents.",
		"I want to upload a file to S3.",
		"My boss attached great importance to the report.",
		"Here is what I like: tea. And here is my plan.",
		"I renamed report.pdf to final.pdf",
		"```\nuploaded_file = open('report.pdf') # the attached file\n```",
		"I sent you a letter yesterday.",
		"I gave you the code for the door.",
		"I shared the document with my team.",
		"I sent my boss the report.",
		"I put the photos on the wall.",
		"It is at https://example.com/wp-content/uploads/a.png",
		"This is my dog Rex.",
		"这是我的狗，叫旺财。",
		"我给你发过邮件吗",
		"我每周上传视频到抖音。",
		"怎么在邮件里添加附件？",
		"我想上传一个文件到服务器",
		"我给你讲个故事，我住在柏林",
		"邮件的附件太大了，发不出去",
		"我重视家庭，附近有公园",
	} {
		if got := left(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

func TestMentionsOfManyFilesAreBounded(t *testing.T) {
	s := strings.Repeat("I uploaded report.pdf. ", 2000) + "I live in Berlin."
	if got := left(s); got != "I live in Berlin." {
		t.Errorf("%d bytes left: %.80q", len(got), got)
	}
}
